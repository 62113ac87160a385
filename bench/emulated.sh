#!/bin/sh
# Sixteen emulated workers against the simulator, schedule by schedule: rows for results/emulated.md.
# Run it from the project's root; about a quarter of an hour, most of it waiting.
set -eu
size=layers=32,hidden=256,heads=4,sequence=128,vocabulary=1000
row() {
  ./pipewright compare "$@" --optimizer momentum --cluster bench/emulated-cluster.yaml --emulate --json |
    python3 -c '
import json, sys
answer = json.load(sys.stdin)
predicted, simulated, measured = (answer[k]["step_s"] for k in ("predicted", "simulated", "measured"))
ops = {op["name"]: op for op in answer["op"]}
print("| `%s` | %.3f | %.3f | %.3f | %+.1f %% | %+.1f %% |" % (
    " ".join(sys.argv[1:]), predicted, simulated, measured,
    100 * (simulated / measured - 1),
    100 * (ops["forward"]["simulated"] / ops["forward"]["measured"] - 1)))
' "$@"
}
# Steps that end; the head reads the embedding's table, so their workers sum its gradients.
step() {
  row "gpt:$size" --steps 8 "$@"
}
step --stages 16 --schedule gpipe --micro-batches 16 --global-batch 16 --stretch 40
step --stages 16 --schedule 1f1b --micro-batches 16 --global-batch 16 --stretch 40
step --stages 16 --schedule zb-h1 --micro-batches 16 --global-batch 16 --stretch 40
step --stages 16 --schedule interleaved --chunks 2 --micro-batches 16 --global-batch 16 --stretch 40
step --stages 16 --schedule chimera --micro-batches 16 --global-batch 16 --stretch 40
step --stages 8 --replicas 2 --schedule 1f1b --micro-batches 16 --global-batch 32 --stretch 20
# Steps that flow; a head of its own, since they update the table's two stages at different times.
flow() {
  row "gpt-untied:$size" "$@"
}
flow --stages 16 --schedule pipedream --global-batch 1 --steps 96 --stretch 40
flow --stages 16 --schedule pipedream-2bw --micro-batches 16 --global-batch 16 --steps 8 --stretch 40
flow --stages 8 --replicas 2 --schedule pipedream-2bw --micro-batches 16 --global-batch 32 --steps 8 --stretch 20
flow --stages 16 --schedule cyclic-v2 --global-batch 16 --steps 8 --stretch 40
flow --stages 5 --schedule cyclic-v2-pyramid --global-batch 5 --steps 16 --stretch 40
flow --stages 16 --schedule cyclic-v2-pipeline --global-batch 16 --steps 8 --stretch 40
