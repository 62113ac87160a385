package dev.pipewright.server.inspect;

import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.cluster.ClusterFiles;
import dev.pipewright.formats.cluster.CollectiveTimings;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.formats.oracle.TrainingTable;
import dev.pipewright.formats.schedule.ScheduleCsv;
import java.util.List;
import java.util.function.Predicate;

/**
 * A kind of file that users inspect. A file is of the first kind that it begins like: a new kind is
 * a line here.
 *
 * @param words for it
 * @param begins whether a file begins like one
 * @param answers the command whose answer tells whether it is valid
 * @param draws the command that draws it into a folder; empty where none does
 * @param plan whether it may say network and cluster by name
 * @param next command lines to go on with; {@code %s} is the file
 */
record FileKind(
    String words,
    Predicate<Glance> begins,
    String answers,
    String draws,
    boolean plan,
    List<String> next) {
  private static final String TRAIN = "pipewright predict %s --cluster h100:8 --global-batch 64";

  static final List<FileKind> KNOWN =
      List.of(
          new FileKind(
              "a trace of PyTorch's profiler",
              glance -> glance.zipped() || glance.has("traceEvents"),
              "import",
              "import",
              false,
              List.of(
                  "pipewright import %s --out traced",
                  "pipewright plan traced/profile.json --cluster h100:8 --global-batch 64")),
          new FileKind(
              "a schedule",
              glance -> glance.has("ranks") || ScheduleCsv.isSchedule(glance.file()),
              "check",
              "schedule",
              false,
              List.of(
                  "pipewright schedule %s --beside zb-h1 --html compared.html",
                  "pipewright simulate %s --times 1,1,1,0.1")),
          new FileKind(
              "a plan",
              glance -> glance.has("plan") || glance.has("stages"),
              "check",
              "simulate",
              true,
              List.of(
                  "pipewright simulate %s --out simulated",
                  "pipewright export %s --to megatron --out launch",
                  "pipewright train %s --steps 20")),
          new FileKind(
              "measured collectives",
              glance ->
                  (glance.keys().isEmpty() || glance.has("config", "results"))
                      && CollectiveTimings.isTimings(glance.file()),
              "calibrate",
              "",
              false,
              List.of("pipewright calibrate %s --cluster h100:2x8 --level node --out fitted")),
          new FileKind(
              "measured training runs",
              glance -> glance.keys().isEmpty() && TrainingTable.isMeasured(glance.file()),
              "calibrate",
              "",
              false,
              List.of("pipewright predict --table %s")),
          new FileKind(
              "a cluster",
              glance -> ClusterFiles.isCluster(glance.file()),
              "clusters",
              "",
              false,
              List.of("pipewright plan bert-48 --cluster %s --global-batch 64 --out plan")),
          new FileKind(
              "a transformer",
              glance ->
                  glance.has("model_type")
                      || glance.has("architectures")
                      || (glance.keys().isEmpty()
                          && ModelFiles.words(glance.file()).isPresent()
                          && PlanImports.isImport(glance.file())),
              "models",
              "",
              false,
              List.of(
                  TRAIN,
                  "pipewright predict %s --cluster h100:8 --devices 8 --global-batch 64 --search")),
          new FileKind(
              "a plan of another program",
              glance -> PlanImports.isImport(glance.file()),
              "check",
              "simulate",
              true,
              List.of("pipewright check %s --model gpt3-7b --cluster h100:8")),
          new FileKind(
              "a network",
              glance -> ModelFiles.words(glance.file()).isPresent(),
              "models",
              "",
              false,
              List.of("pipewright plan %s --cluster h100:8 --global-batch 64 --out plan")));
}
