// The modules whose kinds and controllers the cluster tests use.
module paddlespec.test/crds

go 1.25.0

require (
	github.com/kubeflow/training-operator v1.8.1
	sigs.k8s.io/jobset v0.11.0
	sigs.k8s.io/kueue v0.15.0
	volcano.sh/volcano v1.10.0
)
