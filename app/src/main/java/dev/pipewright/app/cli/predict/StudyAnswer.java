package dev.pipewright.app.cli.predict;

import dev.pipewright.app.cli.input.OptionValues;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.study.Asked;
import dev.pipewright.app.report.study.StudyHtml;
import dev.pipewright.app.report.study.StudyMemorySvg;
import dev.pipewright.app.report.study.StudyParetoSvg;
import dev.pipewright.app.report.study.StudyScalingSvg;
import dev.pipewright.app.report.study.StudyText;
import dev.pipewright.app.report.study.StudyTimeSvg;
import dev.pipewright.app.report.study.StudyWords;
import dev.pipewright.app.report.text.TrainingLines;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.answer.StudyJson;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.predict.paradl.Prediction;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Study;
import java.io.PrintWriter;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** A study of strategies, shown in every form that {@code predict} offers. */
public final class StudyAnswer {
  /** The names of the files that {@link #write} makes. */
  static final String[] FILES = {
    "report.html", "time.svg", "memory.svg", "scaling.svg", "pareto.svg"
  };

  private final Study study;
  private final Costed costed;
  private final String question;
  private final String flags;

  /**
   * @param question what was asked, in words
   * @param flags what was said of model and cluster, for another command
   */
  StudyAnswer(Study study, Costed costed, String question, String flags) {
    this.flags = flags;
    this.study = study;
    this.costed = costed;
    this.question = question;
  }

  private Asked asked() {
    String cluster = costed.workload().cluster().name();
    String model = costed.workload().chain().graph().name();
    return new Asked(
        model + " on " + cluster,
        model,
        cluster + ", " + Words.count(costed.workload().cluster().size(), "device"),
        question,
        costed.workload().profile().provenance().toString());
  }

  String json() {
    String provenance = costed.workload().profile().provenance().toString();
    return StudyJson.text(study, costed.model(), costed.cluster(), provenance, costed.workload());
  }

  /** Of the choice on the most devices; empty where there is none. */
  private Optional<TrainingFigures> figures() {
    int most = study.devices().get(study.devices().size() - 1);
    return study
        .choice(most)
        .map(best ->
            TrainingFigures.of(
                costed.workload(),
                best.globalBatch(),
                List.of((int) Math.min(Integer.MAX_VALUE, best.microBatchPerRank())),
                best.iterationSeconds(),
                best.devices()));
  }

  void print(PrintWriter out) {
    out.print(StudyText.of(study, Terminal.columns(), Terminal.colours()));
    figures()
        .ifPresent(found ->
            out.print("\n" + TrainingLines.of(found, Terminal.columns(), Terminal.colours())));
  }

  void write(OutputFolder files) {
    String subject = asked().title();
    files.write("report.html", StudyHtml.of(study, asked(), figures()));
    files.write("time.svg", StudyTimeSvg.of(study, subject));
    files.write("memory.svg", StudyMemorySvg.of(study, subject));
    files.write("scaling.svg", StudyScalingSvg.of(study, subject));
    files.write("pareto.svg", StudyParetoSvg.of(study, subject));
  }

  /** Why no row is a way to train; empty when one is. */
  Optional<String> nothingFits() {
    boolean some =
        study.predictions().stream()
            .anyMatch(p -> p instanceof Predicted predicted && predicted.fits());
    if (some) {
      return Optional.empty();
    }
    Optional<Predicted> least =
        study.predictions().stream()
            .filter(Predicted.class::isInstance)
            .map(Predicted.class::cast)
            .min(Comparator.comparingDouble(p -> p.memory().total() / p.capacity()));
    return Optional.of(
        least
            .map(p ->
                "no strategy asked for fits: %s on %s comes nearest and needs %s of %s; %s were not considered: `%s` considers recomputation and micro-batches, and with --planner capture tensor parallelism"
                    .formatted(
                        p.strategy().label(),
                        Words.count(p.devices(), "device"),
                        dev.pipewright.units.Units.binary(p.memory().total(), "B"),
                        dev.pipewright.units.Units.binary(p.capacity(), "B"),
                        StudyWords.notConsidered(study),
                        planning(p.globalBatch())))
            .orElseGet(this::firstImpossible));
  }

  /** The command that looks for a plan with what strategies leave out. */
  private String planning(long globalBatch) {
    return "pipewright plan %s --cluster %s --global-batch %d%s"
        .formatted(
            OptionValues.quoted(costed.model()),
            OptionValues.quoted(costed.cluster()),
            globalBatch,
            flags);
  }

  private String firstImpossible() {
    Prediction first = study.predictions().get(0);
    String why = first instanceof Impossible impossible ? impossible.why() : "";
    return first.strategy().label()
        + " on "
        + Words.count(first.devices(), "device")
        + " is impossible, and so is all else that was asked: "
        + why
        + "; change --strategies, --devices, --group or the batch";
  }
}
