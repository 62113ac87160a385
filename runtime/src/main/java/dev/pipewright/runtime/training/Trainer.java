package dev.pipewright.runtime.training;

import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingListener;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingService;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.Wanted;
import dev.pipewright.runtime.launch.Coordinator;
import dev.pipewright.runtime.launch.Launch;
import dev.pipewright.runtime.launch.WorkerFailureException;
import dev.pipewright.runtime.net.Objective;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The training service on libtorch. */
public final class Trainer implements TrainingService {
  private static final JsonMapper JSON = new JsonMapper();

  @Override
  public TrainingOutcome train(TrainingRequest request, TrainingListener listener) {
    check(request);
    Steps steps = new Steps(request.assignment());
    TrainingOutcome.Worker[] workers = new TrainingOutcome.Worker[request.assignment().size()];
    Coordinator.Listener heard =
        (worker, text) -> {
          JsonNode line = JSON.readTree(text);
          if (line.has("step")) {
            steps.add(worker, StepLine.parse(line)).ifPresent(listener::stepped);
          } else {
            workers[worker] = memory(request, worker, line);
          }
        };
    String job = Job.of(request).text();
    switch (request.workers()) {
      case THREADS ->
          new ThreadWorkers(request.assignment().size()).run(job, request.threads(), heard);
      case PROCESSES -> processes(request, job, heard);
    }
    return new TrainingOutcome(steps.results(), steps.typical(), List.of(workers));
  }

  /** What can be said before anything starts. */
  private static void check(TrainingRequest request) {
    LayerGraph graph = RunnableModel.of(request.model());
    DatasetSpec.parse(request.data()).open(Wanted.of(graph, Objective.of(graph)));
  }

  private static TrainingOutcome.Worker memory(TrainingRequest request, int worker, JsonNode line) {
    return new TrainingOutcome.Worker(
        worker,
        request.assignment().rankOf(worker),
        line.get("peak_bytes").asLong(),
        line.get("bytes_before").asLong());
  }

  private static void processes(TrainingRequest request, String job, Coordinator.Listener heard) {
    int workers = request.assignment().size();
    Launch launch =
        Launch.of(workers, TrainerTask.class.getName(), job, logs(request))
            .withThreads(request.threads());
    try (Coordinator coordinator = new Coordinator(launch)) {
      coordinator.run(heard);
    } catch (WorkerFailureException e) {
      throw new TrainingFailureException(String.valueOf(e.getMessage()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TrainingFailureException("training was interrupted", e);
    }
  }

  private static Path logs(TrainingRequest request) {
    try {
      return request.folder().isPresent()
          ? Files.createDirectories(Path.of(request.folder().get(), "logs"))
          : Files.createTempDirectory("pipewright-logs");
    } catch (IOException e) {
      throw new UncheckedIOException("the folder for logs cannot be made", e);
    }
  }
}
