"""Run paddlespec jobs with the Kubeflow training operator."""
