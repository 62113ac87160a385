package dev.pipewright.server.study;

import dev.pipewright.api.Problem;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.server.store.KeptStudy;
import dev.pipewright.server.store.StudyStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The plan of a study.
 *
 * @param form the study's question
 * @param network the file that it plans for; empty where the network has a name
 */
public record KeptPlan(
    KeptStudy study,
    Map<String, String> form,
    Optional<UploadedNetwork> network,
    PipelinePlan plan) {
  private static final String FILE = "plan.json";

  /** That of an id; throws {@link BadInputException} where there is none. */
  public static KeptPlan of(StudyStore store, String id) {
    byte[] content =
        store
            .file(id, FILE)
            .orElseThrow(() -> new BadInputException("studies: one has no plan; choose others"));
    try {
      Path folder = Files.createTempDirectory("pipewright-plan-");
      try {
        PipelinePlan plan = PlanJson.read(Files.write(folder.resolve(FILE), content)).plan();
        KeptStudy study = store.find(id).orElseThrow();
        return new KeptPlan(
            study, StudyRequest.form(study.command(), id), UploadedNetwork.kept(store, id), plan);
      } finally {
        CommandRun.delete(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has work done with what was asked; the problem holds no longer than that. */
  public <T> T with(Function<Problem, T> work) {
    return network.isPresent()
        ? network.get().lend(path -> work.apply(problem(path)))
        : work.apply(problem(form.getOrDefault("model", "")));
  }

  private Problem problem(String model) {
    Problem problem =
        Problem.of(
            model,
            form.getOrDefault("cluster", ""),
            Integer.parseInt(form.getOrDefault("batch", "1")));
    if (form.containsKey("precision")) {
      problem = problem.withPrecision(form.get("precision"));
    }
    if (form.containsKey("optimizer")) {
      problem = problem.withOptimizer(form.get("optimizer"));
    }
    return form.containsKey("sequence")
        ? problem.withSequence(Integer.parseInt(form.get("sequence")))
        : problem;
  }
}
