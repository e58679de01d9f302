mkdir -p "$PADDLESPEC_OUTPUT/.paddlespec" || exit 1
run="$PADDLESPEC_OUTPUT/.paddlespec/$RUN"
found=$(ls -A "$PADDLESPEC_OUTPUT" | grep -vx -e '\.paddlespec' -e 'lost+found' | head -n 1)
if [ -z "$found" ] || [ -d "$run" ]; then
  mkdir -p "$run"
else
  echo "$PADDLESPEC_OUTPUT is not empty: it holds $found." >&2
  echo "Choose another output, or outputPolicy reuse or clear." >&2
  exit 1
fi
