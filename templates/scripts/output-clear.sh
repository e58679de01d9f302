mkdir -p "$PADDLESPEC_OUTPUT/.paddlespec" || exit 1
run="$PADDLESPEC_OUTPUT/.paddlespec/$RUN"
if mkdir "$run" 2>/dev/null; then
  find "$PADDLESPEC_OUTPUT" -mindepth 1 -maxdepth 1 ! -name .paddlespec ! -name lost+found -exec rm -rf {} + || { rmdir "$run"; exit 1; }
  touch "$run/ready"
fi
until [ -e "$run/ready" ]; do sleep 1; done
