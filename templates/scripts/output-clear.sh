mkdir -p "$PADDLESPEC_OUTPUT/.paddlespec" || exit 1
run="$PADDLESPEC_OUTPUT/.paddlespec/$RUN"
if mkdir "$run" 2>/dev/null; then
  find "$PADDLESPEC_OUTPUT" -mindepth 1 -maxdepth 1 ! -name .paddlespec -exec rm -rf {} +
  touch "$run/ready"
fi
until [ -e "$run/ready" ]; do sleep 1; done
