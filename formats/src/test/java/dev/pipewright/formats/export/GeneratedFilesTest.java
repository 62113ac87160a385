package dev.pipewright.formats.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.schedule.ScheduleCsv;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What targets write is what their programs take. */
class GeneratedFilesTest {
  @TempDir Path folder;

  private static Map<String, PipelinePlan> plans(String target) {
    return switch (target) {
      case "torchtitan" -> SamplePlans.ofTorchtitan();
      case "deepspeed" -> SamplePlans.ofDeepSpeed();
      case "galvatron" -> SamplePlans.ofGalvatron();
      case "torch" -> {
        Map<String, PipelinePlan> all = SamplePlans.ofTorchtitan();
        all.putAll(SamplePlans.ofDeepSpeed());
        all.keySet()
            .removeAll(
                List.of(
                    "context",
                    "context and tensor",
                    "experts",
                    "experts and tensor",
                    "experts and context"));
        yield all;
      }
      default -> {
        Map<String, PipelinePlan> all = SamplePlans.ofMegatron();
        all.remove("pipelines one by one");
        all.remove("ZeRO 3");
        yield all;
      }
    };
  }

  private static List<ExportedFile> written(String target, PipelinePlan plan) {
    return ExportCatalog.named("--to", target, ExportOptions.NONE)
        .write(SamplePlans.exported(plan));
  }

  private static boolean hasPython() throws IOException, InterruptedException {
    try {
      return new ProcessBuilder("python3", "--version").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"bridge", "torchtitan", "torch", "deepspeed"})
  void pythonCompiles(String target) throws IOException, InterruptedException {
    assumeTrue(hasPython());
    List<String> command = new ArrayList<>(List.of("python3", "-m", "py_compile"));
    plans(target)
        .forEach((name, plan) ->
            written(target, plan).stream()
                .filter(file -> file.name().endsWith(".py"))
                .forEach(file -> {
                  String unique = command.size() + file.name();
                  command.add(Refusal.file(folder, unique, file.text()).toString());
                }));
    assertTrue(command.size() > 6, command.toString());
    Process python = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, python.waitFor(), said);
  }

  /** As plans count it; a ring, which is usual there, takes longer between machines. */
  @Test
  void recipesGatherKeysWhereTokensAreDivided() {
    Set<Boolean> seen = new HashSet<>();
    plans("bridge")
        .forEach((name, plan) -> {
          String recipe = written("bridge", plan).get(0).text();
          boolean tokens =
              List.of("context", "context and tensor", "experts and context").contains(name);
          assertEquals(tokens, recipe.contains("model.cp_comm_type = \"all_gather\""), name);
          seen.add(tokens);
        });
    assertEquals(Set.of(true, false), seen);
  }

  /** Written constants evaluate to the plan. */
  @Test
  void theScriptOfPyTorchHasThePlansStages() {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofDeepSpeed(), "pairs recomputed");
    String script = written("torch", plan).get(0).text();
    assertTrue(script.contains("\nLAYERS = [(0, 2), (3, 33)]"), script);
    assertTrue(script.contains("\nRECOMPUTED = [[(0, 1), (2, 2)], [(3, 4), "), script);
    assertTrue(script.contains("\nRANKS, DATA, TENSOR = 2, 1, 1\n"), script);
  }

  @ParameterizedTest
  @CsvSource({
    "ADAM, Adam, '{\"lr\": 1.0E-4}'",
    "SGD, SGD, '{\"lr\": 1.0E-4}'",
    "MOMENTUM, SGD, '{\"lr\": 1.0E-4, \"momentum\": 0.9}'",
    "RMSPROP, RMSprop, '{\"lr\": 1.0E-4}'"
  })
  void theOptimizerIsTheOneThatWasPlanned(Optimizer rule, String name, String settings) {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofDeepSpeed(), "data");
    ExportSubject exported = SamplePlans.exported(plan, rule);
    String script = new TorchExport().write(exported).get(0).text();
    assertTrue(script.contains("\nOPTIMIZER = torch.optim." + name + "\n"), script);
    assertTrue(script.contains("\nSETTINGS = " + settings + " "), script);
    ExportedFile config = new DeepSpeedExport().write(exported).get(0);
    Node root = Tree.json(Refusal.file(folder, config.name(), config.text()));
    Node optimizer = root.object().required("optimizer");
    assertEquals(name, optimizer.object().required("type").text());
  }

  @ParameterizedTest
  @ValueSource(strings = {"torch", "deepspeed"})
  void scriptsNameTheLayersInTheOrderOfTheStages(String target) {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofDeepSpeed(), "pairs recomputed");
    String script =
        written(target, plan).stream()
            .filter(file -> file.name().endsWith(".py"))
            .findFirst()
            .orElseThrow()
            .text();
    String names = script.substring(script.indexOf("\nNAMES = ["), script.indexOf("\n]\n"));
    assertEquals(
        SamplePlans.LAYERS,
        Pattern.compile("\"(.*)\",").matcher(names).results().map(m -> m.group(1)).toList());
    assertTrue(names.contains("\"block-2\",\n    # stage 1\n    \"block-3\","), names);
  }

  /** In a comment at the head of each file, or in the answer where a file has none. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "megatron",
        "bridge",
        "torchtitan",
        "torch",
        "deepspeed",
        "galvatron",
        "sbatch",
        "trainjob",
        "jobset"
      })
  void whatOnlyTheUserKnowsIsSaid(String target) {
    plans(target)
        .forEach((name, plan) -> {
          PlanExport export = ExportCatalog.named("--to", target, ExportOptions.NONE);
          ExportSubject subject = SamplePlans.exported(plan);
          String said =
              target.equals("galvatron")
                  ? String.join("\n", export.notes(subject))
                  : head(written(target, plan));
          assertTrue(export.toAdd(subject).size() > 0, target);
          export.toAdd(subject).forEach(line -> assertTrue(said.contains(line), said));
          for (String word : List.of("data", "tokenizer", "lr|learning rate", "load|checkpoint")) {
            assertTrue(Pattern.compile(word).matcher(said).find(), word + ": " + said);
          }
        });
  }

  /** Comments and docstring before a file's first statement, of the first that has some. */
  private static String head(List<ExportedFile> files) {
    String text =
        files.stream()
            .map(ExportedFile::text)
            .filter(each -> !each.startsWith("{"))
            .findFirst()
            .orElseThrow();
    return text.startsWith("\"")
        ? text.substring(0, text.indexOf("\"\"\"", 3))
        : text.lines()
            .takeWhile(line -> line.startsWith("#") || line.startsWith("set -"))
            .collect(java.util.stream.Collectors.joining("\n"));
  }

  /** The devices of a pipeline rank are those whose numbers have it in the mesh. */
  @ParameterizedTest
  @ValueSource(strings = {"pipelines one by one", "t8, ZeRO 1"})
  void theMeshOfPyTorchNumbersDevicesAsThePlanDoes(String name) {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofMegatron(), name);
    String script = written("torch", plan).get(0).text();
    Matcher sizes =
        Pattern.compile("\nRANKS, DATA, TENSOR = (\\d+), (\\d+), (\\d+)\n").matcher(script);
    assertTrue(sizes.find(), script);
    int ranks = Integer.parseInt(sizes.group(1));
    int data = Integer.parseInt(sizes.group(2));
    int tensor = Integer.parseInt(sizes.group(3));
    boolean ranksFirst = script.contains("\nMESH = {\"pipeline\": RANKS, \"data\": DATA, \"tensor");
    assertTrue(
        ranksFirst || script.contains("\nMESH = {\"data\": DATA, \"pipeline\": RANKS, \"tensor"));
    List<List<Integer>> byRank = plan.devicesByRank();
    for (int device = 0; device < ranks * data * tensor; device++) {
      int group = device / tensor;
      assertTrue(byRank.get(ranksFirst ? group / data : group % ranks).contains(device), script);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"interleaved", "dualpipev", "looped-bfs"})
  void theScheduleOfPyTorchIsThePlans(String name) {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofTorchtitan(), name);
    ExportedFile csv = written("torch", plan).get(1);
    Path file = Refusal.file(folder, csv.name(), csv.text());
    var read = ScheduleCsv.read(file).schedule();
    assertEquals(plan.schedule().ranks(), read.ranks());
    for (int rank = 0; rank < read.ranks(); rank++) {
      assertEquals(
          java.util.Arrays.toString(plan.schedule().packed(rank)),
          java.util.Arrays.toString(read.packed(rank)));
    }
  }

  @Test
  void batchesOfDeepSpeedMultiplyAndPipelinesShardLittle() {
    SamplePlans.ofDeepSpeed()
        .forEach((name, plan) -> {
          ExportedFile config = written("deepspeed", plan).get(0);
          Node root = Tree.json(Refusal.file(folder, config.name(), config.text()));
          StagePlan stage = plan.stages().get(0);
          long product =
              number(root, "train_micro_batch_size_per_gpu")
                  * number(root, "gradient_accumulation_steps")
                  * stage.replicas();
          assertEquals(number(root, "train_batch_size"), product, name);
          Node pipeline = root.object().required("pipeline");
          long level = number(root.object().required("zero_optimization"), "stage");
          assertTrue(number(pipeline, "stages") == 1 || level <= 1, name);
          assertEquals(
              plan.stages().size() + 1,
              pipeline.object().required("parts").elements().size(),
              name);
        });
  }

  private static long number(Node object, String key) {
    return object.object().required(key).whole(0, Long.MAX_VALUE >> 1);
  }

  @Test
  void listsOfGalvatronHaveANumberForEachBlock() {
    SamplePlans.ofGalvatron()
        .forEach((name, plan) -> {
          ExportedFile config = written("galvatron", plan).get(0);
          Node root = Tree.json(Refusal.file(folder, config.name(), config.text()));
          for (String key :
              List.of(
                  "tp_sizes_enc", "tp_consecutive_flags", "dp_types_enc", "use_sp", "checkpoint")) {
            assertEquals(
                32, root.object().required(key).text().split(",", -1).length, name + " " + key);
          }
          int sum = 0;
          String[] division = root.object().required("pp_division").text().split(",", -1);
          for (String blocks : division) {
            sum += Integer.parseInt(blocks);
          }
          assertEquals(32, sum, name);
          assertEquals(number(root, "pp_deg"), division.length, name);
          assertEquals(0, number(root, "global_bsz") % number(root, "chunks"), name);
        });
  }

  /** The keys of Galvatron's own configuration, all of them. */
  @Test
  void galvatronsOwnConfigurationHasTheSameKeys() {
    Path sample =
        Path.of(
            System.getProperty("reference.dir", "none"),
            "interop/galvatron/galvatron_config_llama2-7b.json");
    assumeTrue(Files.exists(sample));
    ExportedFile config =
        written("galvatron", SamplePlans.named(SamplePlans.ofGalvatron(), "data")).get(0);
    assertEquals(
        new TreeSet<>(Tree.json(sample).members().keySet()),
        new TreeSet<>(
            Tree.json(Refusal.file(folder, config.name(), config.text())).members().keySet()));
  }

  @ParameterizedTest
  @CsvSource({
    "trainjob, trainer.kubeflow.org/v1alpha1, TrainJob, interop/k8s/trainjob-multi-node.yaml",
    "jobset, jobset.x-k8s.io/v1alpha2, JobSet, interop/k8s/jobset-pytorch.yaml"
  })
  void yamlHasTheKeysOfItsKind(String target, String version, String kind, String sample) {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofMegatron(), "t8, ZeRO 1");
    ExportedFile yaml = written(target, plan).get(0);
    Node root = Tree.yamlOrJson(Refusal.file(folder, yaml.name(), yaml.text()));
    assertEquals(version, root.object().required("apiVersion").text());
    assertEquals(kind, root.object().required("kind").text());
    Path reference = Path.of(System.getProperty("reference.dir", "none"), sample);
    assumeTrue(Files.exists(reference));
    TreeSet<String> missing = new TreeSet<>();
    addKeys("", Tree.yamlOrJson(reference), missing);
    TreeSet<String> own = new TreeSet<>();
    addKeys("", root, own);
    missing.removeAll(own);
    assertEquals(new TreeSet<>(), missing);
  }

  private static void addKeys(String path, Node node, Set<String> keys) {
    node.members()
        .forEach((key, value) -> {
          keys.add(path + "." + key);
          addKeys(path + "." + key, value, keys);
        });
    node.elements().forEach(element -> addKeys(path + "[]", element, keys));
  }

  @Test
  void aJobOfSlurmStartsTheArgumentsOnAllNodes() {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofMegatron(), "t8, ZeRO 1");
    List<ExportedFile> files = written("sbatch", plan);
    assertEquals(1, files.size());
    String text = files.get(0).text();
    assertTrue(text.startsWith("#!/bin/bash\n#SBATCH --job-name=train-llama3-8b\n"), text);
    assertTrue(text.contains("#SBATCH --nodes=4\n"), text);
    assertTrue(text.contains("#SBATCH --gpus-per-node=8\n"), text);
    assertTrue(text.contains("pretrain_gpt.py \"${MODEL_ARGS[@]}\" \"${PLAN_ARGS[@]}\"\n"), text);
    assertTrue(text.contains("  --tensor-model-parallel-size 8\n"), text);
  }

  @Test
  void aLauncherWritesTheFilesOfTheProgramThatItStarts() {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofDeepSpeed(), "data");
    ExportOptions around = new ExportOptions(Optional.of("deepspeed"), Optional.empty());
    List<ExportedFile> files =
        ExportCatalog.named("--to", "trainjob", around).write(SamplePlans.exported(plan));
    assertEquals(
        List.of("trainjob.yaml", "ds_config.json", "train_deepspeed.py"),
        files.stream().map(ExportedFile::name).toList());
    assertTrue(files.get(0).text().contains("torchrun train_deepspeed.py\n"));
    assertFalse(files.get(0).text().contains("pretrain_gpt"));
  }
}
