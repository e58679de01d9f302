cd "$TRAINER_PACKAGE" || exit 1
if [ -n "$TRAIN_LIST" ]; then
  awk -v id="$PADDLE_INIT_TRAINER_ID" -v count="$TRAINERS" 'NR % count == id' "$TRAIN_LIST" > /train.list || exit 1
fi
exec paddle train --config="$TOPOLOGY" --save_dir="${OUTPUT:-output}" --local=0 --rdma_tcp=tcp --saving_period=1 --log_period=20 --trainer_id="$PADDLE_INIT_TRAINER_ID" --pservers="$PADDLE_INIT_PSERVERS" --port="$PADDLE_INIT_PORT" --ports_num="$PADDLE_INIT_PORTS_NUM" --ports_num_for_sparse="$PADDLE_INIT_PORTS_NUM_FOR_SPARSE" --num_gradient_servers="$PADDLE_INIT_NUM_GRADIENT_SERVERS" --num_passes="$PADDLE_INIT_NUM_PASSES" --trainer_count="$PADDLE_INIT_TRAINER_COUNT" --use_gpu="$PADDLE_INIT_USE_GPU" --comment=paddle_process_k8s
