package dev.pipewright.formats.export;

import dev.pipewright.plan.PipelinePlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A launcher's file around the files of another target. */
final class LaunchExport implements PlanExport {
  /**
   * Text of a launcher.
   *
   * @param file its name
   * @param toAdd what its user adds, a sentence
   */
  record Launcher(String file, String framework, String toAdd, Text text) {}

  /** Makes a launcher's file. */
  interface Text {
    /**
     * The file that starts a command on all nodes of a plan.
     *
     * @param head comments, each ended by a newline
     */
    String of(ExportSubject plan, LaunchCommand command, String head);
  }

  private static final PlanExport MEGATRON = new MegatronExport();
  private static final PlanExport TORCH = new TorchExport();

  private final Launcher launcher;
  private final Function<ExportSubject, PlanExport> around;
  private final List<String> inner;

  private LaunchExport(
      Launcher launcher, Function<ExportSubject, PlanExport> around, List<String> inner) {
    this.launcher = launcher;
    this.around = around;
    this.inner = inner;
  }

  /** Around the files of a target that the user names; by default as fits the network. */
  static PlanExport of(Launcher launcher, ExportOptions options) {
    if (options.around().isEmpty()) {
      return new LaunchExport(
          launcher, plan -> plan.isDecoder() ? MEGATRON : TORCH, TORCH.fileNames());
    }
    PlanExport named = ExportCatalog.framework("--around", options.around().get());
    return new LaunchExport(launcher, plan -> named, named.fileNames());
  }

  @Override
  public String framework() {
    return launcher.framework;
  }

  @Override
  public List<String> schedules(ExportSubject plan) {
    return around.apply(plan).schedules(plan);
  }

  @Override
  public List<ExportRule> rules() {
    return List.of(exported -> {
      List<Gap> gaps = around.apply(exported).gaps(exported);
      return gaps.isEmpty() ? Optional.empty() : Optional.of(gaps.get(0));
    });
  }

  @Override
  public Optional<PipelinePlan> nearest(ExportSubject plan) {
    return around.apply(plan).nearest(plan);
  }

  @Override
  public List<Gap> gaps(ExportSubject plan) {
    return around.apply(plan).gaps(plan);
  }

  @Override
  public String cannotSay(List<Gap> gaps) {
    return launcher.framework
        + " starts a program that"
        + PlanExport.super.cannotSay(gaps).substring(launcher.framework.length());
  }

  @Override
  public List<String> fileNames() {
    List<String> names = new ArrayList<>(List.of(launcher.file));
    names.addAll(inner);
    return names;
  }

  @Override
  public List<String> notes(ExportSubject plan) {
    return around.apply(plan).notes(plan);
  }

  @Override
  public List<String> toAdd(ExportSubject plan) {
    List<String> sentences = new ArrayList<>(List.of(launcher.toAdd));
    sentences.addAll(around.apply(plan).toAdd(plan));
    return sentences;
  }

  @Override
  public LaunchCommand launch(ExportSubject plan) {
    return around.apply(plan).launch(plan);
  }

  @Override
  public List<ExportedFile> files(ExportSubject plan) {
    PlanExport of = around.apply(plan);
    LaunchCommand command = of.launch(plan);
    List<ExportedFile> files = new ArrayList<>();
    files.add(
        new ExportedFile(
            launcher.file, launcher.text.of(plan, command, PythonText.comments(toAdd(plan)))));
    if (command.setup().isEmpty()) { // otherwise it is all that the command needs
      files.addAll(of.files(plan));
    }
    return files;
  }
}
