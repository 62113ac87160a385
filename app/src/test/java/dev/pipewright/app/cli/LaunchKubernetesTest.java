package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Manifests of Kubernetes hold against the published fields of their kinds. */
class LaunchKubernetesTest {
  private static final String TRAIN = "mlp:layers=3,hidden=16 --global-batch 8 --stages 4";

  @TempDir Path folder;

  private static Cli launch(String options, String train) {
    List<String> words = new ArrayList<>(List.of("launch"));
    words.addAll(List.of(options.split(" ", -1)));
    words.add("--");
    words.addAll(List.of(train.split(" ", -1)));
    return Cli.run(words.toArray(String[]::new));
  }

  private static String manifest(String kind, String train) {
    return launch("k8s --nodes 2 --image registry/pipewright:1 --kind " + kind, train)
        .ends(0)
        .out();
  }

  @ParameterizedTest
  @ValueSource(strings = {"jobset", "trainjob"})
  void manifestsHaveTheFieldsOfTheirKinds(String kind) {
    for (String more :
        List.of("", " --device cuda", " --out run --checkpoint-every 2", " --data text:a'b")) {
      String text = manifest(kind, TRAIN + more);
      assertEquals(List.of(), KubernetesSchema.mistakes(text), text);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jobset | completionMode: Indexed | completionMode: Ordered",
        "jobset | backoffLimit: 0 | backoffLimits: 0",
        "jobset | restartPolicy: Never | restartPolicy: never",
        "jobset | parallelism: 2 | parallelism: two",
        "jobset | value: \"2\" | value: 2",
        "jobset | kind: JobSet | kind: JobSets",
        "trainjob | numNodes: 2 | nodes: 2",
        "trainjob | numNodes: 2 | numNodes: \"2\"",
        "trainjob | runtimeRef: | runtime:",
        "trainjob | key: token | keys: token",
      })
  void otherManifestsAreNoticed(String kind, String right, String wrong) {
    String text = manifest(kind, TRAIN);
    String changed = text.replace(right, wrong);
    assertNotEquals(text, changed);
    assertTrue(KubernetesSchema.mistakes(changed).size() > 0, changed);
  }

  @Test
  void exportedManifestsHaveTheFieldsOfTheirKinds() {
    Path plan = folder.resolve("plan");
    Cli.plan("llama3-8b", "h100-80g-8x3200g:2x8", "--global-batch", "64", "--out", "" + plan)
        .ends(0);
    for (String kind : List.of("jobset", "trainjob")) {
      Path out = folder.resolve(kind);
      Cli.run(
              "export",
              plan.resolve("plan.json") + "",
              "--to",
              kind,
              "--nearest",
              "--out",
              out + "")
          .ends(0);
      String text = Cli.text(out.resolve(kind + ".yaml"));
      assertEquals(List.of(), KubernetesSchema.mistakes(text), text);
    }
  }

  @Test
  void podsOfGpusAskForOneOfEachWorker() {
    for (String kind : List.of("jobset", "trainjob")) {
      assertTrue(manifest(kind, TRAIN + " --device cuda").contains("nvidia.com/gpu: 2\n"), kind);
      assertTrue(!manifest(kind, TRAIN).contains("nvidia"), kind);
    }
  }

  @Test
  void aTrainJobReadsItsRankFromItsRuntime() {
    assertEquals(
        """
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata:
          name: tiny
        spec:
          runtimeRef:
            apiGroup: trainer.kubeflow.org
            kind: ClusterTrainingRuntime
            name: torch-distributed
          trainer:
            numNodes: 2
            image: registry/pipewright:1
            env:
              - name: PIPEWRIGHT_TOKEN
                valueFrom:
                  secretKeyRef:
                    name: tiny-token
                    key: token
            command:
              - bash
              - -c
              - |
                exec pipewright train mlp:layers=3,hidden=16 --global-batch 8 --stages 4 --launcher env \
        --workers-per-rank 2 --grace 60
        """,
        launch("k8s --nodes 2 --kind trainjob --name tiny --image registry/pipewright:1", TRAIN)
            .ends(0)
            .out());
    assertEquals(
        "--kind: Slurm has jobs of one kind; leave it out",
        launch("slurm --kind jobset", TRAIN).refusal(2));
  }

  /** Two machines of two devices, of which the plan takes all. */
  @Test
  void aManifestForOtherMachinesThanThePlansIsRefused() {
    Path plan = folder.resolve("plan");
    Cli.plan("bert-48", "dapple-a:2x2", "--global-batch", "64", "--out", plan.toString()).ends(0);
    String file = plan.resolve("plan.json").toString();
    assertEquals(
        "--nodes: the plan uses 2 machines of dapple-a:2x2, which 1 pod cannot stand for; give"
            + " --nodes 2",
        launch("k8s --image a:1", file).refusal(2));
    assertEquals(
        "--nodes: the plan uses 2 machines of dapple-a:2x2, which 3 pods cannot stand for; give"
            + " --nodes 2",
        launch("k8s --image a:1 --nodes 3 --kind trainjob", file).refusal(2));
    launch("k8s --image a:1 --nodes 2", file).ends(0);
  }
}
