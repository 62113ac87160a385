package dev.pipewright.app.cli.setup;

import dev.pipewright.app.cli.host.Host;
import dev.pipewright.units.Bytes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What a machine has of what Pipewright can use, and what a missing thing costs. */
final class Checkup {
  /** The first Java that keeps linked classes between runs. */
  private static final int QUICK_START = 25;

  private final Host host;
  private final List<Diagnosis> findings = new ArrayList<>();

  private Checkup(Host host) {
    this.host = host;
  }

  /** All findings: the program, the machine, then what runs elsewhere. */
  static List<Diagnosis> of(Host host) {
    Checkup checkup = new Checkup(host);
    checkup.program();
    checkup.machine();
    checkup.neighbours();
    return List.copyOf(checkup.findings);
  }

  private void program() {
    Optional<Path> checkout = home("app/target/launch").filter(home -> has(home, "pom.xml"));
    Optional<Path> image = home("lib").filter(home -> has(home, "bin/pipewright"));
    findings.add(
        Diagnosis.found(
            "pipewright",
            checkout
                .map(home -> "a checkout in " + home)
                .or(() -> image.map(home -> "a package in " + home))
                .orElse("on a class path")));
    Host.Java java = host.java();
    String slow =
        java.version() < QUICK_START ? "; %d and newer start quicker".formatted(QUICK_START) : "";
    findings.add(Diagnosis.found("java", java.name() + ", " + java.home() + slow));
    if (checkout.isEmpty()) {
      findings.add(
          Diagnosis.missing(
              "libtorch",
              "train, profile, compare, join and checkpoint run from a checkout only, which fetches it"
                  + " (150 MB)"));
      return;
    }
    boolean compiles = has(java.home(), "bin/javac");
    Optional<String> maven = first("mvn", "--version");
    findings.add(
        maven.isPresent() && compiles
            ? Diagnosis.found("build", maven.get())
            : Diagnosis.missing(
                "build",
                "changed sources are not built; install "
                    + (compiles ? "Maven" : "a JDK, not a Java runtime alone")));
    findings.add(
        has(checkout.get(), "runtime/target/launch/lib")
            ? Diagnosis.found("libtorch", "for the processor; PIPEWRIGHT_TORCH=gpu fetches CUDA's")
            : Diagnosis.missing("libtorch", "the first `pipewright train` fetches it (150 MB)"));
  }

  private void machine() {
    findings.add(
        Diagnosis.found(
            "processors",
            "%d, with %s of memory"
                .formatted(host.processors(), Bytes.of((double) host.memory()))));
    Optional<String> gpus =
        host.run(List.of("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"))
            .filter(text -> !text.isBlank());
    findings.add(
        gpus.map(text -> Diagnosis.found("gpu", counted(text)))
            .orElseGet(() ->
                Diagnosis.missing(
                    "gpu",
                    "train and profile compute on processors; `nvidia-smi` lists no NVIDIA GPU here")));
  }

  private void neighbours() {
    program(
        "slurm", "`launch slurm` writes the job, but cannot --submit it", "sbatch", "--version");
    program(
        "kubernetes",
        "`launch k8s` writes the manifest, but cannot --submit it",
        "kubectl",
        "version",
        "--client");
    program("mpi", "no `mpirun` starts `train --launcher env`", "mpirun", "--version");
    String torch = "import importlib.metadata as m; print('PyTorch', m.version('torch'))";
    program(
        "pytorch",
        "modules of PyTorch are not profiled (tools/pipewright_profile.py); install torch for python3",
        "python3",
        "-c",
        torch);
  }

  private void program(String name, String cost, String... command) {
    Optional<String> said = first(command);
    findings.add(
        said.map(line -> Diagnosis.found(name, line))
            .orElseGet(() -> Diagnosis.missing(name, cost)));
  }

  private Optional<String> first(String... command) {
    return host.run(List.of(command)).flatMap(text -> text.lines().findFirst());
  }

  /** The folder above a jar that lies in {@code under} of it. */
  private Optional<Path> home(String under) {
    return host.jar()
        .map(Path::getParent)
        .filter(folder -> folder.endsWith(under))
        .map(folder -> {
          Path home = folder;
          for (int level = 0; level < Path.of(under).getNameCount(); level++) {
            home = home.resolve("..");
          }
          return home.normalize();
        });
  }

  private boolean has(Path home, String file) {
    return host.exists(home.resolve(file));
  }

  /** {@code 8 × NVIDIA H100 80GB HBM3, 81559 MiB} for equal ones, else a list. */
  private static String counted(String csv) {
    List<String> lines = csv.lines().map(String::strip).toList();
    return lines.stream().distinct().count() == 1
        ? String.format(Locale.ROOT, "%d × %s", lines.size(), lines.get(0))
        : String.join("; ", lines);
  }
}
