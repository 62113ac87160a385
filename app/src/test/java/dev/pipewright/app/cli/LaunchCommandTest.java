package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaunchCommandTest {
  private static final String TRAIN =
      "mlp:layers=3,hidden=16 --global-batch 8 --stages 4 --threads 2 --out my/run"
          + " --checkpoint-every 20";

  @TempDir Path folder;

  private static Cli launch(String options, String train) {
    List<String> words = new ArrayList<>(List.of("launch"));
    words.addAll(List.of(options.split(" ", -1)));
    words.add("--");
    words.addAll(List.of(train.split(" ", -1)));
    return Cli.run(words.toArray(String[]::new));
  }

  @Test
  void anUnknownSystemIsSaidOnce() {
    assertEquals(
        "slurm|k8s: 'foo' is none of slurm, k8s; give one of these",
        launch("foo", "mlp-8x1024 --steps 3").refusal(2));
  }

  /** They lie on the nodes, not where the job is made. */
  @Test
  void certificatesOfTheNodesAreTheCommandLines() {
    String certificates = "--tls-cert /node/own.pem --tls-key /node/own.key --tls-ca /node/ca.pem";
    for (String system : List.of("slurm", "k8s --image a:1", "k8s --kind trainjob --image a:1")) {
      String job = launch(system + " --nodes 2", TRAIN + " " + certificates).ends(0).out();
      assertTrue(job.replaceAll("\\s*\\\\?\\s+", " ").contains(certificates), job);
    }
  }

  @Test
  void aJobOfSlurmResumesWhereItsCheckpointsAre() {
    assertEquals(
        """
        #!/bin/bash
        #SBATCH --job-name=train-mlp-layers-3-hidden-16
        #SBATCH --nodes=2
        #SBATCH --ntasks-per-node=1
        #SBATCH --cpus-per-task=4
        #SBATCH --time=8:00:00
        #SBATCH --signal=TERM@45
        #SBATCH --open-mode=append
        #SBATCH --requeue
        set -euo pipefail
        export PIPEWRIGHT_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')
        resume=()
        if compgen -G my/run/checkpoints/'step-*' > /dev/null; then resume=(--resume my/run); fi
        status=0
        srun --kill-on-bad-exit=0 pipewright train mlp:layers=3,hidden=16 --global-batch 8 --stages 4 \
        --threads 2 --out my/run --checkpoint-every 20 --launcher env --workers-per-rank 2 --grace 30 \
        "${resume[@]}" || status=$?
        if [ "$status" -eq 75 ]; then scontrol requeue "$SLURM_JOB_ID"; fi
        exit "$status"
        """,
        launch("slurm --nodes 2 --time 8:00:00 --grace 30", TRAIN).ends(0).out());
  }

  @Test
  void aJobWithoutCheckpointsIsNotRequeued() {
    String text =
        launch("slurm --name short", "mlp:layers=3,hidden=16 --global-batch 8").ends(0).out();
    assertTrue(text.contains("#SBATCH --job-name=short\n"), text);
    assertTrue(!text.contains("requeue") && !text.contains("resume"), text);
    assertTrue(
        text.endsWith(
            "srun --kill-on-bad-exit=0 pipewright train mlp:layers=3,hidden=16 --global-batch 8"
                + " --launcher env --workers-per-rank 1 --grace 60\n"),
        text);
  }

  private Path plan() throws IOException {
    return Files.writeString(
        folder.resolve("plan.json"),
        """
        {"format": "pipewright-plan", "version": 1, "model": "mlp:layers=3,hidden=16",
         "cluster": "dapple-b:2", "global_batch": 8,
         "plan": {"schedule": "1f1b", "micro_batches": 2, "micro_batch": 4, "replicas": 1,
          "overlap_allreduce": false, "stages": [
           {"layers": [0, 2], "devices": [0], "in_flight": 2, "recompute": "none"},
           {"layers": [3, 4], "devices": [1], "in_flight": 1, "recompute": "none"}]}}
        """);
  }

  @Test
  void aJobThatIsPlannedAnewStartsWithFewerNodes() throws IOException {
    String train = plan() + " --out run --checkpoint-every 20";
    String text = launch("slurm --nodes 2 --requeue-plan", train).ends(0).out();
    assertTrue(text.contains("#SBATCH --nodes=1-2\n#SBATCH --exclusive\n"), text);
    assertTrue(!text.contains("#SBATCH --ntasks"), "or Slurm gives one node: " + text);
    assertTrue(text.contains("\nsrun --kill-on-bad-exit=0 --ntasks-per-node=1 pipewright"), text);
    assertTrue(text.contains(" --workers-per-rank 1 --grace 60 --replan \"${resume[@]}\""), text);
    assertEquals(
        "--min-nodes: 2 of 2 nodes leave no other plan; give fewer, or more --nodes",
        launch("slurm --nodes 2 --requeue-plan --min-nodes 2", train).refusal(2));
    assertEquals(
        "--min-nodes: is for another plan; add --requeue-plan",
        launch("slurm --nodes 2 --min-nodes 2", train).refusal(2));
    assertEquals(
        "--requeue-plan: the run writes no checkpoints to go on from; add --out and"
            + " --checkpoint-every to the command line of train",
        launch("slurm --nodes 2 --requeue-plan", plan().toString()).refusal(2));
    assertEquals(
        "--requeue-plan: a JobSet always has all its pods; leave it out",
        launch("k8s --image a:1 --nodes 2 --requeue-plan", train).refusal(2));
    launch("slurm --nodes 2 --requeue-plan", TRAIN)
        .refusal(2, "--replan: mlp:layers=3,hidden=16 is a network and no plan");
  }

  @Test
  void wordsOfTheShellAreQuoted() {
    Cli said =
        Cli.run(
            "launch",
            "slurm",
            "--",
            "mlp:layers=3,hidden=16",
            "--global-batch",
            "8",
            "--data",
            "text:it's $HOME; rm");
    assertTrue(said.ends(0).out().contains(" --data 'text:it'\\''s $HOME; rm' "), said.out());
  }

  @Test
  void aJobSetHasAPodForEachRank() {
    Path out = folder.resolve("k8s");
    Cli said =
        launch("k8s --nodes 2 --name tiny --image registry/pipewright:1 --out " + out, TRAIN);
    assertEquals("wrote jobset.yaml to " + out, said.ends(0).err().strip());
    Node set = Tree.yamlOrJson(out.resolve("jobset.yaml"));
    assertEquals("jobset.x-k8s.io/v1alpha2", text(set, "apiVersion"));
    assertEquals("10", at(set, "spec", "failurePolicy", "maxRestarts").scalar());
    Node job = at(set, "spec", "replicatedJobs").list().get(0);
    Node spec = at(job, "template", "spec");
    assertEquals("2", at(spec, "completions").scalar());
    assertEquals("Indexed", text(spec, "completionMode"));
    Node container = at(spec, "template", "spec", "containers").list().get(0);
    assertEquals("registry/pipewright:1", text(container, "image"));
    List<Node> variables = at(container, "env").list();
    assertEquals(
        List.of("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "PIPEWRIGHT_TOKEN"),
        variables.stream().map(variable -> text(variable, "name")).toList());
    assertEquals("tiny-workers-0-0.tiny", text(variables.get(0), "value"));
    assertEquals("2", text(variables.get(3), "value"));
    assertEquals("tiny-token", text(variables.get(4), "valueFrom", "secretKeyRef", "name"));
    String script = at(container, "command").list().get(2).text();
    assertTrue(script.contains("exec pipewright train mlp:layers=3,hidden=16 "), script);
    assertTrue(script.contains(" --launcher env --workers-per-rank 2 "), script);
  }

  private Path study(int batches) throws IOException {
    StringBuilder sizes = new StringBuilder("64");
    for (int i = 1; i < batches; i++) {
      sizes.append(", ").append(64 + 8 * i);
    }
    return Files.writeString(
        folder.resolve("Study 1.yaml"),
        "models: [bert-48]\nclusters: [\"dapple-a:1x4\"]\nbatches: [%s]\n".formatted(sizes));
  }

  @Test
  void aSweepIsAJobArrayWithAShardForEachTask() throws IOException {
    Path study = study(4);
    assertEquals(
        """
        #!/bin/bash
        #SBATCH --job-name=sweep-study-1
        #SBATCH --nodes=1
        #SBATCH --ntasks-per-node=1
        #SBATCH --array=1-4
        #SBATCH --cpus-per-task=2
        #SBATCH --time=90
        #SBATCH --open-mode=append
        #SBATCH --requeue
        set -euo pipefail
        exec pipewright plan --sweep '%s' --out a/b --jobs 2 --shard \
        "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
        """
            .formatted(study),
        Cli.run(
                "launch",
                "slurm",
                "--sweep=" + study,
                "--array=4",
                "--time=90",
                "--",
                "--jobs",
                "2",
                "--out",
                "a/b")
            .ends(0)
            .out());
  }

  @Test
  void aSweepIsAnIndexedJobWithAShardForEachPod() throws IOException {
    Path out = folder.resolve("k8s");
    Cli said =
        Cli.run("launch", "k8s", "--sweep=" + study(3), "--array=3", "--image=a:1", "--out=" + out);
    assertEquals("wrote sweep.yaml to " + out, said.ends(0).err().strip());
    Node job = Tree.yamlOrJson(out.resolve("sweep.yaml"));
    assertEquals("batch/v1", text(job, "apiVersion"));
    assertEquals("Job", text(job, "kind"));
    assertEquals("sweep-study-1", text(job, "metadata", "name"));
    Node spec = at(job, "spec");
    assertEquals("3", at(spec, "completions").scalar());
    assertEquals("3", at(spec, "parallelism").scalar());
    assertEquals("Indexed", text(spec, "completionMode"));
    Node pod = at(spec, "template", "spec");
    assertEquals("Never", text(pod, "restartPolicy"));
    String script = at(at(pod, "containers").list().get(0), "command").list().get(2).text();
    assertTrue(script.endsWith(" --jobs 1 --shard \"$((JOB_COMPLETION_INDEX + 1))/3\"\n"), script);
  }

  @Test
  void mistakesOfSweepsAreSaid() throws IOException {
    String sweep = "--sweep=" + study(2);
    assertEquals(
        "--array: the sweep has 2 points, which 3 tasks cannot share; give at most as many",
        Cli.run("launch", "slurm", sweep, "--array=3").refusal(2));
    assertEquals(
        "--array: is for sweeps; add --sweep FILE.yaml",
        launch("slurm --array 3", TRAIN).refusal(2));
    assertEquals(
        "--nodes: each task of a sweep has one node; give --array N",
        Cli.run("launch", "slurm", sweep, "--nodes=3").refusal(2));
    assertEquals(
        "--shard: the job's tasks are the shards, which are merged when all have ended; leave it"
            + " out",
        Cli.run("launch", "slurm", sweep, "--", "--shard=1/2").refusal(2));
    Cli.run("launch", "slurm", sweep, "--", "--colour=red")
        .refusal(2, "plan: ", "--colour", "`plan --help` lists its flags");
    assertEquals(
        "TRAIN is missing; write what `train` is to do after --, or give --sweep FILE.yaml",
        Cli.run("launch", "slurm").refusal(2));
  }

  private static Node at(Node node, String... keys) {
    Node at = node;
    for (String key : keys) {
      at = at.object().required(key);
    }
    return at;
  }

  private static String text(Node node, String... keys) {
    return at(node, keys).text();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "slurm --nodes 5 | --nodes: the run has 4 workers, which 5 nodes cannot share; give at most as"
            + " many",
        "slurm --time soon | --time: 'soon' is no time limit of Slurm; give one like 90 (minutes),"
            + " 8:00:00 or 1-12:00",
        "slurm --name My_Job | --name: 'My_Job' is no name of a job; give up to 40 small letters,"
            + " digits and hyphens",
        "slurm --image a:1 | --image: Slurm starts no containers; leave it out",
        "k8s | --image is missing; give a container image with Pipewright",
        "k8s --image a:1 --time 90 | --time: Kubernetes has no time limit of jobs; leave it out",
      })
  void mistakesAreSaid(String options, String why) {
    assertEquals(why, launch(options, TRAIN).refusal(2));
  }

  @Test
  void mistakesOfTrainAreSaid() {
    assertEquals(
        "--global-batch is missing; give the samples of a step",
        launch("slurm", "mlp:layers=3,hidden=16").refusal(2));
    launch("slurm", "mlp:layers=3,hidden=16 --global-batch 8 --colour red")
        .refusal(2, "train: ", "--colour", "`train --help` lists its flags");
  }
}
