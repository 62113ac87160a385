package dev.pipewright.runtime.training;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Reduction;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The job of every worker of a run. It is sent as one line of JSON, for this version of the program
 * only.
 */
record Job(
    String model,
    OptionalInt sequence,
    Assignment assignment,
    UpdateRule rule,
    boolean sharedStatistics,
    String data,
    RunSchedule runSchedule,
    Optional<String> resumeFrom,
    long seed,
    Optional<Emulation> emulation,
    boolean recordsMemory) {
  private static final JsonMapper JSON = new JsonMapper();

  /**
   * @param resumeFrom the folder of a checkpoint
   */
  static Job of(TrainingRequest request, RunSchedule runSchedule, Optional<String> resumeFrom) {
    return new Job(
        request.model(),
        request.sequence(),
        request.assignment(),
        request.learning().rule(),
        request.learning().sharedStatistics(),
        request.learning().data(),
        runSchedule,
        resumeFrom,
        request.learning().seed(),
        request.execution().emulation(),
        request.keeping().folder().isPresent());
  }

  String text() {
    ObjectNode job = JSON.createObjectNode();
    sequence.ifPresent(tokens -> job.put("sequence", tokens));
    job.put("model", model).put("data", data).put("seed", seed);
    job.putObject("course")
        .put("first", runSchedule.first())
        .put("samples_before", runSchedule.samplesBefore())
        .put("end", runSchedule.end())
        .put("evaluate_every", runSchedule.evaluateEvery())
        .put("checkpoint_every", runSchedule.checkpointEvery());
    resumeFrom.ifPresent(folder -> job.put("resume_from", folder));
    job.put("optimizer", rule.kind().name())
        .put("rate", rule.rate())
        .put("momentum", rule.momentum())
        .put("decay", rule.decay());
    job.put("records_memory", recordsMemory);
    job.put("shared_statistics", sharedStatistics);
    job.put("sharding", assignment.sharding().name());
    job.put("batch", assignment.batch()).put("overlapped", assignment.overlapped());
    assignment.workers().forEach(job.putArray("workers")::add);
    ArrayNode stages = job.putArray("stages");
    for (StageLayers stage : assignment.stages()) {
      ObjectNode object = stages.addObject().put("recompute", stage.recompute().name());
      put(object.putArray("layers"), stage.range());
      ArrayNode grid = object.put("split", stage.split().kind().name()).putArray("grid");
      stage.split().grid().forEach(grid::add);
      object.put("reduction", stage.split().reduction().name());
      ArrayNode again = object.putArray("again");
      stage.again().forEach(run -> put(again.addArray(), run));
    }
    assignment
        .asyncPipeline()
        .ifPresentOrElse(
            asyncPipeline -> AsyncPipelineJson.put(job.putObject("flow"), asyncPipeline),
            () -> put(job.putObject("schedule"), assignment.schedule()));
    emulation.ifPresent(times -> put(job.putArray("emulation"), times));
    return job.toString();
  }

  private static void put(ArrayNode array, Emulation emulation) {
    for (LayerSeconds layer : emulation.layers()) {
      array
          .addArray()
          .add(layer.forward())
          .add(layer.input())
          .add(layer.weight())
          .add(layer.update());
    }
  }

  private static void put(ArrayNode array, LayerRange range) {
    array.add(range.first()).add(range.last());
  }

  private static void put(ObjectNode object, Schedule schedule) {
    Placement placement = schedule.placement();
    object.put("name", schedule.name()).put("micro_batches", schedule.microBatches());
    object.put("chains", placement.chains());
    ArrayNode rankOf = object.putArray("rank_of");
    for (int stage = 0; stage < placement.stages(); stage++) {
      rankOf.add(placement.rankOf(stage));
    }
    ArrayNode programs = object.putArray("programs");
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      ArrayNode program = programs.addArray();
      for (long op : schedule.packed(rank)) {
        program.add(op);
      }
    }
  }

  static Job parse(String text) {
    JsonNode job = JSON.readTree(text);
    List<StageLayers> stages = new ArrayList<>();
    for (JsonNode stage : job.get("stages")) {
      List<LayerRange> again = new ArrayList<>();
      stage.get("again").forEach(run -> again.add(range(run)));
      Recompute recompute = Recompute.valueOf(stage.get("recompute").asString());
      stages.add(new StageLayers(range(stage.get("layers")), recompute, again, split(stage)));
    }
    List<Integer> workers = new ArrayList<>();
    job.get("workers").forEach(count -> workers.add(count.asInt()));
    int batch = job.get("batch").asInt();
    Assignment assignment =
        job.has("flow")
            ? Assignment.of(AsyncPipelineJson.parse(job.get("flow")), stages, workers, batch)
            : new Assignment(
                    schedule(job.get("schedule")),
                    stages,
                    workers,
                    batch,
                    job.get("overlapped").asBoolean())
                .sharded(ZeroStage.valueOf(job.get("sharding").asString()));
    UpdateRule rule =
        new UpdateRule(
            Optimizer.valueOf(job.get("optimizer").asString()),
            job.get("rate").asDouble(),
            job.get("momentum").asDouble(),
            job.get("decay").asDouble());
    return new Job(
        job.get("model").asString(),
        job.has("sequence") ? OptionalInt.of(job.get("sequence").asInt()) : OptionalInt.empty(),
        assignment,
        rule,
        job.get("shared_statistics").asBoolean(),
        job.get("data").asString(),
        runSchedule(job.get("course")),
        Optional.ofNullable(job.get("resume_from")).map(JsonNode::asString),
        job.get("seed").asLong(),
        Optional.ofNullable(job.get("emulation")).map(Job::emulation),
        job.get("records_memory").asBoolean());
  }

  private static Parallelism split(JsonNode stage) {
    List<Integer> grid = new ArrayList<>();
    stage.get("grid").forEach(parts -> grid.add(parts.asInt()));
    return new Parallelism(
        Parallelism.Kind.valueOf(stage.get("split").asString()),
        grid,
        Reduction.valueOf(stage.get("reduction").asString()));
  }

  private static RunSchedule runSchedule(JsonNode runSchedule) {
    return new RunSchedule(
        runSchedule.get("first").asLong(),
        runSchedule.get("samples_before").asLong(),
        runSchedule.get("end").asLong(),
        runSchedule.get("evaluate_every").asInt(),
        runSchedule.get("checkpoint_every").asInt());
  }

  private static Emulation emulation(JsonNode layers) {
    List<LayerSeconds> seconds = new ArrayList<>();
    for (JsonNode layer : layers) {
      seconds.add(
          new LayerSeconds(
              layer.get(0).asDouble(),
              layer.get(1).asDouble(),
              layer.get(2).asDouble(),
              layer.get(3).asDouble()));
    }
    return new Emulation(seconds);
  }

  private static LayerRange range(JsonNode ends) {
    return new LayerRange(ends.get(0).asInt(), ends.get(1).asInt());
  }

  private static Schedule schedule(JsonNode schedule) {
    JsonNode ranks = schedule.get("rank_of");
    JsonNode programs = schedule.get("programs");
    int[] rankOf = IntStream.range(0, ranks.size()).map(i -> ranks.get(i).asInt()).toArray();
    long[][] packed = new long[programs.size()][];
    for (int rank = 0; rank < packed.length; rank++) {
      packed[rank] = longs(programs.get(rank));
    }
    return new Schedule(
        schedule.get("name").asString(),
        Placement.of(packed.length, schedule.get("chains").asInt(), rankOf),
        schedule.get("micro_batches").asInt(),
        packed);
  }

  /** A list of whole numbers. */
  static long[] longs(JsonNode array) {
    return IntStream.range(0, array.size()).mapToLong(i -> array.get(i).asLong()).toArray();
  }
}
