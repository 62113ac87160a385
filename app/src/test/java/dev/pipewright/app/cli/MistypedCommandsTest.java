package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A sentence for each mistake of a command line, and all of them at once. */
class MistypedCommandsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "plann | unknown command 'plann'; did you mean \"plan\"?",
        "help | unknown command 'help'; `pipewright --help` lists what there is",
        "^^ | no command given; `pipewright --help` lists them",
        "plan --cluster dapple-a --global-batch 64 | MODEL is missing; write `pipewright plan MODEL`",
        "plan bert-48 --cluster dapple-a | no --global-batch; add the samples of a training step",
        "plan bert-48 --cluster dapple-a --global-batch | --global-batch: has no value; write --global-batch N",
        "plan bert-48 --global-batch 64 | no cluster given; add --cluster",
        "plan bert-48 --cluster dapple-a --global-bath 64 | unknown option '--global-bath'; did you mean \"--global-batch\"?",
        "plan bert-48 --cluster dapple-a --global-batch 64 --memroy 3 | unknown option '--memroy'; did you mean \"--memory\"?",
        "plan bert-48 x --cluster dapple-a --global-batch 64 | 'x' is one word too many;",
        "plan bert-48 --cluster dapple-a --global-batch abc | --global-batch: 'abc' is not a whole number;",
        "plan bert-48 --cluster dapple-a --global-batch 1e3 | --global-batch: '1e3' is not a whole number;",
        "plan bert-48 --cluster dapple-a --global-batch 99999999999 | --global-batch: 99999999999 is out of range;",
        "plan bert-48 --cluster dapple-a --global-batch 2147483647 | --global-batch: 2147483647 samples per step are more than",
        "plan bert-48 --cluster dapple-a --global-batch 0 | --global-batch: 0 is no batch; give a whole number >= 1",
        "plan bert-48 --cluster dapple-a --global-batch -3 | --global-batch: -3 is no batch;",
        "plan bert-48 --cluster dapple-a --global-batch 64 --global-batch 32 | --global-batch: is given twice; keep one",
        "plan bert-48 --cluster dapple-a --global-batch 64 --micro-batch 0 | --micro-batch: 0 is no batch;",
        "plan bert-48 --cluster dapple-a --global-batch 64 --json=yes | --json: takes no value;",
        "plan no-such.json --cluster dapple-a --global-batch 64 | no-such.json: no such file; give the path of a model file",
        "plan ./no-such --cluster dapple-a --global-batch 64 | ./no-such: no such file;",
        "plan net.txt --planner pipedream --levels 2 --bandwidths 1e9 | net.txt: no such file;",
        "predict nets/bert --cluster abci | nets/bert: no such file;",
        "train nope.toml | nope.toml: no such file;",
        "train resnet50x --global-batch 8 | no model 'resnet50x'; did you mean \"resnet-50\"?",
        "plan bert-48 --cluster mine.yaml --global-batch 64 | mine.yaml: no such file; give the path of a cluster file",
        "plan bert-48 --cluster 8xDGX --global-batch 64 | no cluster '8xDGX'; did you mean dgx-v100 or dgx-h100?",
        "plan bert-48 --cluster 12xA100 --global-batch 64 | 12 devices do not fill nodes of 8; write 8 or 16",
        "plan bert-48 --cluster V100-16 --global-batch 64 | dgx-v100, dapple-a,",
        "plan bert-48 --cluster dapple-a --global-batch 64 --tensor 8 | unknown option '--tensor'; the planner chooses tensor parallelism",
        "plan llama3-8b --cluster h100:1x8 --global-batch 64 --seq-length 4096 | unknown option '--seq-length'; write --sequence N",
        "plan llama3-8b --cluster h100:1x8 --global-batch 64 --sequence-length 4096 | unknown option '--sequence-length'; write --sequence N",
        "plan mixtral-8x7b --cluster h100:1x8 --global-batch 64 --expert-model-parallel-size 8 | unknown option '--expert-model-parallel-size'; the planner chooses expert parallelism; `predict --expert E` sets it",
        "plan llama3-8b --cluster h100:1x8 --global-batch 64 --cp 2 | unknown option '--cp'; the planner chooses context parallelism; `predict --context C` sets it",
        "plan bert-48 --cluster dapple-a --global-batch 64 --num-gpus=8 | unknown option '--num-gpus'; the size of a cluster is part of its name",
        "plan bert-48 --cluster dapple-a --global-batch 64 --gpus=8 | --gpus: is a cluster of its own; leave out --cluster, or name the size with it, like dgx-h100:4x8",
        "plan bert-48 --cluster dapple-a --batch-size 64 | unknown option '--batch-size'; write --global-batch N",
        "plan bert-48 --cluster dapple-a --global-batch 64 --mixed_precision | unknown option '--mixed_precision'; write --precision NAME",
        "train mlp-8x1024 --lr 0.1 | unknown option '--lr'; write --learning-rate X",
        "train mlp-8x1024 --pipeline-model-parallel-size 2 | write --stages P",
        "train mlp-8x1024 --gradient-accumulation-steps 4 | write --micro-batches M",
        "train mlp-8x1024 --zero_stage 3 | write --zero N",
        "schedule 1f1b --stages 2 --num-microbatches 4 | write --micro-batches M",
        "predict gpt-2 --cluster abci --num-layers 4 | gpt:layers=24,hidden=1024",
        "models nosuchnet | no model 'nosuchnet';",
        "plan no-such-model --cluster dapple-a --global-batch 64 | no model 'no-such-model'; give a file or a name that `pipewright models` lists",
        "plan bert-49 --cluster nowhere --global-batch 64 | no cluster 'nowhere'; give a YAML file or one of",
        "plan bert-48 --cluster dapple-a:0x8 --global-batch 64 | '0x8' is not a size;",
        "plan bert-48 --cluster dapple-a:100x1000 --global-batch 64 | 100000 devices in 100 machines are more than",
        "plan bert-1000000 --cluster dapple-a --global-batch 64 | bert-1000000: has 1000002 layers",
        "plan bert-48 --cluster dapple-a --global-batch 64 --planner best | --planner: unknown 'best'; one of auto,",
        "plan bert-48 --cluster dapple-a --global-batch 64 --cost-model dappel | --cost-model: unknown 'dappel'; did you mean \"dapple\"?",
        "plan bert-48 --cluster dapple-a --global-batch 64 --schedule 1f2b | --schedule: unknown '1f2b'; did you mean \"1f1b\"?",
        "plan bert-48 --cluster dapple-a --global-batch 64 --recompute some | --recompute: unknown 'some'; ",
        "plan bert-48 --cluster dapple-a --global-batch 64 --memory lots | --memory: 'lots' is no amount of memory; write bytes up to 1e15, or like 16GiB",
        "plan bert-48 --cluster dapple-a --global-batch 64 --memory -1 | --memory: '-1' is no amount",
        "plan bert-48 --cluster dapple-a --global-batch 64 --memory 0x10p4 | --memory: '0x10p4' is no amount",
        "plan bert-48 --cluster dapple-a --global-batch 64 --optimizer adm | --optimizer: unknown 'adm'; did you mean \"adam\"?",
        "plan bert-48 --cluster dapple-a --global-batch 64 --precision half | --precision: unknown 'half'; one of fp32, tf32, fp16, bf16, mixed",
        "plan bert-48 --cluster dapple-a --global-batch 64 --profile-batch 0 | --profile-batch: 0 is no batch;",
        "plan bert-48 --cluster dapple-a --global-batch 64 --model-format graf | --model-format: unknown 'graf'; ",
        "simulate | PLAN.json is missing;",
        "simulate nope.json | nope.json: no such file; ",
        "check nope.json | nope.json: no such file; ",
        "clusters nope | no cluster 'nope'; ",
        "models bert-48 x | 'x' is one word too many; "
      })
  void aMistypedCommandLineIsAnsweredWith(String line, String sentence) {
    String[] args = line == null || line.isEmpty() ? new String[0] : line.split(" ", -1);
    Cli.run(args).refusal(2, sentence);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plan | MODEL is missing; | no cluster given; | no --global-batch; ",
        "plan nope.json --cluster no.yaml --global-batch x --planner best --precision half"
            + "| --global-batch: 'x' is not | nope.json: no such file | no.yaml: no such file"
            + "| --precision: unknown 'half' | --planner: unknown 'best'",
        "plan bert-48 --cluster dapple-a --lr 1 --num-gpus 8 | '--lr' | '--num-gpus' | no --global-batch",
        "predict vgg-99x --strategies a --formulas b --devices"
            + "| --devices: has no value | no model 'vgg-99x' | no cluster given"
            + "| --strategies: unknown 'a' | --formulas: unknown 'b'",
        "schedule gpipe --stages x --svg= | --svg: is empty | --micro-batches is missing"
      })
  void allMistakesComeAtOnce(String line) {
    String[] parts = line.split("\\|", -1);
    Cli run = Cli.run(parts[0].strip().split(" +", -1)).ends(2);
    assertEquals("", run.out());
    for (int i = 1; i < parts.length; i++) {
      String said = parts[i].strip();
      assertEquals(
          1, run.err().lines().filter(mistake -> mistake.contains(said)).count(), run.err());
    }
    assertEquals(parts.length - 1, run.err().lines().count(), run.err());
    run.err()
        .lines()
        .forEach(sentence ->
            assertTrue(sentence.startsWith("pipewright: ") && sentence.contains("; "), sentence));
  }
}
