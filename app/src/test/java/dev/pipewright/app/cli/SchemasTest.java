package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.PlanFiles;
import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.profile.ProfileJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** JSON Schemas accept what commands write, and accept and refuse files as their readers do. */
class SchemasTest {
  private static final Path GOLDEN = Path.of("src/test/resources/golden");
  private static final JsonMapper JSON = new JsonMapper();
  private static final String GPT =
      "gpt:layers=4,hidden=512,heads=8,sequence=256,vocabulary=8192 --cluster dapple-a:2x2";

  /** Files that people write: each schema's reader, and an example with most keys. */
  private static final Map<String, Consumer<Path>> READERS =
      Map.of(
          "plan", PlanFiles::read,
          "cluster", ClusterYaml::read,
          "profile", ProfileJson::read);

  /** Fields of a kind of operator, which the schema leaves open. */
  private static final List<String> OF_OPERATORS =
      List.of("schema: in", "schema: out", "schema: bias", "schema: function");

  private static void accepts(String schema, JsonNode value) {
    assertEquals(List.of(), JsonSchemas.strictMistakes(schema, value).stream().limit(5).toList());
  }

  private static Stream<Path> recorded() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String folder : List.of("answers", "plans")) {
      try (Stream<Path> all = Files.list(GOLDEN.resolve(folder))) {
        all.sorted().forEach(files::add);
      }
    }
    return files.stream();
  }

  @Test
  void everyRecordedAnswerIsAsItsSchemaSays() throws IOException {
    int checked = 0;
    for (Path file : recorded().toList()) {
      String command = file.getFileName().toString().replaceFirst("[-.].*", "");
      String schema = file.startsWith(GOLDEN.resolve("plans")) ? "plan" : command;
      JsonNode answer = JSON.readTree(Files.readString(file));
      if (JsonSchemas.names().contains(schema) && !answer.has("refusal")) {
        List<String> mistakes = JsonSchemas.strictMistakes(schema, answer);
        assertEquals(List.of(), mistakes.stream().limit(5).toList(), file.toString());
        checked++;
      }
    }
    assertTrue(checked > 240, "too few answers: " + checked);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "plan; plan GPT --global-batch 32 --objective p95 --jitter 0.1",
        "plan; plan GPT --global-batch 32 --objective cost --device-hour 2",
        "plan; plan GPT --global-batch 32 --smallest-cluster --target-time 5",
        "plan; plan GPT --global-batch 32 --stages 2 --what-if",
        "plan; plan GPT --global-batch 32 --export megatron",
        "plan-front; plan GPT --global-batch 32 --front",
        "predict-layout; predict llama3-8b --cluster h100:2x8 --tensor-parallel 8 --global-batch 64",
        "predict-layout; predict llama3-70b --cluster h100 --tensor-parallel 8 --pipeline-parallel 4"
            + " --global-batch 1024 --devices 64,128 --tokens 1e12",
        "predict-search; predict llama3-8b --cluster h100:1x8 --devices 8 --global-batch 64 --search",
        "schedule; schedule 1f1b --beside zb-h1 --stages 4 --micro-batches 8 --jitter 0.1",
        "schedule; schedule zb-auto --stages 4 --micro-batches 8 --memory-cap 4",
        "schedules; schedules",
        "check; check --megatron-layout Et|tL --pipeline 2 --layers 2"
      })
  void furtherAnswersAreAsTheirSchemasSay(String schema, String command, @TempDir Path folder) {
    JsonNode answer =
        Cli.run((command.replace("GPT", GPT) + " --json").split(" ", -1)).ends(0).json();
    accepts(schema, answer);
    if (schema.equals("plan")) { // whatever else an answer says, it is a plan file
      Path file = Cli.file(folder, "answer.json", answer.toString());
      Cli.run("check", file.toString()).ends(0);
    }
  }

  @Test
  void predictedTablesAreAsTheirSchemaSays(@TempDir Path folder) {
    Path table =
        Cli.file(
            folder,
            "runs.csv",
            """
            machine,layers,hidden,heads,sequence,global_batch,devices
            h100-80g-8x3200g,32,4096,32,4096,64,8
            """);
    accepts(
        "predict-table", Cli.run("predict", "--table", table.toString(), "--json").ends(0).json());
  }

  @Test
  void everyClusterOfTheZooIsAsTheSchemaSays() {
    JsonNode clusters = Cli.run("clusters", "--json").ends(0).json();
    int checked = 0;
    for (JsonNode cluster : clusters.path("clusters")) {
      String text = Cli.run("clusters", cluster.path("name").asString()).ends(0).out();
      accepts("cluster", new YAMLMapper().readTree(text));
      checked++;
    }
    assertTrue(checked > 10, "too few clusters: " + checked);
  }

  private static JsonNode example(String schema) throws IOException {
    String page = Files.readString(Path.of("../docs/formats.md"));
    var block =
        Pattern.compile("```(json|yaml)\n(\\{\n *\"format\": \"|format: )pipewright-" + schema)
            .matcher(page);
    assertTrue(block.find(), schema);
    String text = page.substring(block.start() + 8, page.indexOf("```", block.end()));
    return block.group(1).equals("json") ? JSON.readTree(text) : new YAMLMapper().readTree(text);
  }

  private static boolean isRead(String schema, JsonNode value, Path folder) {
    try {
      Path file = Cli.file(folder, "changed.json", value.toString());
      Optional.ofNullable(READERS.get(schema)).orElseThrow().accept(file);
      return true;
    } catch (BadInputException e) {
      return false;
    }
  }

  /** Calls for every key of every object, with a copy of the whole and that object in it. */
  private static void eachKey(
      JsonNode root, BiConsumer<ObjectNode, String> change, Runnable after) {
    for (ObjectNode object : objects(root)) {
      for (String key : List.copyOf(object.propertyNames())) {
        Map<String, JsonNode> before = new LinkedHashMap<>();
        object.properties().forEach(entry -> before.put(entry.getKey(), entry.getValue()));
        change.accept(object, key);
        after.run();
        object.removeAll();
        before.forEach(object::set);
      }
    }
  }

  private static List<ObjectNode> objects(JsonNode node) {
    List<ObjectNode> objects = new ArrayList<>();
    if (node instanceof ObjectNode object) {
      objects.add(object);
    }
    node.forEach(child -> objects.addAll(objects(child)));
    return objects;
  }

  @ParameterizedTest
  @ValueSource(strings = {"plan", "cluster", "profile"})
  void aMisspeltKeyIsRefusedByTheSchemaAsByTheReader(String schema, @TempDir Path folder)
      throws IOException {
    JsonNode example = example(schema);
    accepts(schema, example);
    assertTrue(isRead(schema, example, folder));
    eachKey(
        example,
        (object, key) -> object.set(key + "x", object.remove(key)),
        () -> {
          assertFalse(isRead(schema, example, folder), example.toString());
          boolean operator = example.toString().matches(".*\"operator\":\\{[^}]*x\":.*");
          assertTrue(
              operator || !JsonSchemas.strictMistakes(schema, example).isEmpty(), "" + example);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"plan", "cluster", "profile"})
  void aMissingKeyIsRefusedByBothOrByNeither(String schema, @TempDir Path folder)
      throws IOException {
    JsonNode example = example(schema);
    List<String> differ = new ArrayList<>();
    List<String> removed = new ArrayList<>();
    eachKey(
        example,
        (object, key) -> {
          removed.add(key);
          object.remove(key);
        },
        () -> {
          boolean accepted = JsonSchemas.strictMistakes(schema, example).isEmpty();
          if (accepted != isRead(schema, example, folder)) {
            differ.add((accepted ? "schema: " : "reader: ") + removed.getLast());
          }
        });
    differ.removeAll(List.of("schema: count")); // that devices are fewer than links says the whole
    differ.removeAll(OF_OPERATORS);
    assertEquals(List.of(), differ);
  }

  /** What a later version may write. */
  @Test
  void anAnswerWithAnUnknownKeyIsAcceptedByThePublishedSchemaAlone() throws IOException {
    for (Path file : recorded().filter(one -> one.startsWith(GOLDEN.resolve("plans"))).toList()) {
      JsonNode plan = JSON.readTree(Files.readString(file));
      for (String at : List.of("", "/plan", "/plan/stages/0")) {
        ObjectNode object = (ObjectNode) plan.at(at);
        object.put("unheard_of", 1);
        assertEquals(List.of(), JsonSchemas.mistakes("plan", plan), at + " of " + file);
        assertFalse(JsonSchemas.strictMistakes("plan", plan).isEmpty(), at + " of " + file);
        object.remove("unheard_of");
      }
    }
  }

  @Test
  void schemasOfFilesThatPeopleWriteAreClosedAndThoseOfAnswersAreNot() throws IOException {
    for (String name : JsonSchemas.names()) {
      String text = Files.readString(JsonSchemas.FOLDER.resolve(name + ".schema.json"));
      boolean written = List.of("cluster", "profile").contains(name);
      assertEquals(written, text.contains("\"additionalProperties\": false"), name);
      assertEquals(!written, text.contains("\"additionalProperties\": true"), name);
    }
  }

  @Test
  void everySchemaIsListed() throws IOException {
    String page = Files.readString(Path.of("../docs/schemas.md"));
    var listed = new TreeSet<String>();
    Pattern.compile("\\(schemas/([a-z-]+)\\.schema\\.json\\)")
        .matcher(page)
        .results()
        .forEach(link -> listed.add(link.group(1)));
    assertEquals(new TreeSet<>(JsonSchemas.names()), listed);
  }
}
