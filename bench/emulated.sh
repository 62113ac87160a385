#!/bin/sh
# Sixteen emulated workers against the simulator, schedule by schedule: rows for results/emulated.md.
# Run it from the project's root; about ten minutes, most of them waiting.
set -eu
model=gpt:layers=32,hidden=256,heads=4,sequence=128,vocabulary=1000
row() {
  ./pipewright compare "$model" --cluster bench/emulated-cluster.yaml --emulate --steps 8 --json "$@" |
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
row --stages 16 --schedule gpipe --micro-batches 16 --global-batch 16 --stretch 40
row --stages 16 --schedule 1f1b --micro-batches 16 --global-batch 16 --stretch 40
row --stages 16 --schedule zb-h1 --micro-batches 16 --global-batch 16 --stretch 40
row --stages 16 --schedule interleaved --chunks 2 --micro-batches 16 --global-batch 16 --stretch 40
row --stages 16 --schedule chimera --micro-batches 16 --global-batch 16 --stretch 40
row --stages 8 --replicas 2 --schedule 1f1b --micro-batches 16 --global-batch 32 --stretch 20
