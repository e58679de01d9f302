// The modules whose definitions of kinds the cluster tests install. Nothing is compiled.
module paddlespec.test/crds

go 1.25.0

require (
	github.com/kubeflow/training-operator v1.8.1
	sigs.k8s.io/jobset v0.10.1
	sigs.k8s.io/kueue v0.15.0
	volcano.sh/volcano v1.10.0
)
