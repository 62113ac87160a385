package dev.pipewright.bench.runtime;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.execution.CertificateFiles;
import dev.pipewright.runtime.launch.TemporaryFolder;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Secret;
import dev.pipewright.runtime.wire.Tls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What it costs to protect connections: plain ones, as within a machine, sealed ones, as between
 * machines, and TLS with certificates. Each is measured in turn, so that whatever else the machine
 * does meets all: a connection alone, and steps of two workers.
 */
public final class SecureConnections implements Reproduction {
  private static final int ROUNDS = Integer.getInteger("secure.rounds", 5);
  private static final int WARM_UP = 20; // steps
  private static final List<String> PIPELINE =
      List.of("mlp-8x1024", "--stages=2", "--global-batch=64", "--steps=60");
  private static final List<String> REPLICAS =
      List.of("mlp-8x1024", "--replicas=2", "--global-batch=64", "--steps=60");

  private enum Kind {
    PLAIN,
    SEALED,
    TLS
  }

  /** Figures of each kind, one list for each column of a table. */
  private record Column(String name, Map<Kind, List<Double>> byKind) {
    static Column of(String name) {
      return new Column(name, new EnumMap<>(Kind.class));
    }

    double median(Kind kind) {
      return TwoRanks.median(byKind.getOrDefault(kind, List.of()));
    }

    void add(Kind kind, List<Double> figures) {
      byKind.computeIfAbsent(kind, key -> new ArrayList<>()).addAll(figures);
    }
  }

  @Override
  public String name() {
    return "secure-connections";
  }

  @Override
  public String summary() {
    return "What connections between machines cost: plain, sealed and TLS.";
  }

  @Override
  public Report run(Reference reference) {
    try (TemporaryFolder folder = TemporaryFolder.create()) {
      return measured(folder.path(), certificate(folder.path()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** One that signs itself, of both ends. */
  private static CertificateFiles certificate(Path folder)
      throws IOException, InterruptedException {
    String certificate = folder.resolve("machine.pem").toString();
    String key = folder.resolve("machine.key").toString();
    List<String> command = new ArrayList<>(List.of("openssl", "req", "-x509", "-newkey", "ec"));
    command.addAll(List.of("-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"));
    command.addAll(List.of("-subj", "/CN=machine", "-keyout", key, "-out", certificate));
    TwoRanks.finish(command, Map.of());
    return new CertificateFiles(certificate, key, certificate);
  }

  private static Report measured(Path folder, CertificateFiles files)
      throws IOException, InterruptedException {
    Credentials secret = Credentials.of(Secret.random());
    Credentials both = new Credentials(secret.secret(), Optional.of(Tls.of(files)));
    List<Column> columns =
        List.of(
            Column.of("connecting, ms"),
            Column.of("round trip of 64 B, µs"),
            Column.of("one way, GB/s"),
            Column.of("step of 2 stages, ms"),
            Column.of("step of 2 replicas, ms"));
    for (int round = 0; round < ROUNDS; round++) {
      for (int turn = 0; turn < Kind.values().length; turn++) {
        Kind kind = Kind.values()[(round + turn) % Kind.values().length];
        ConnectionSpeed speed =
            ConnectionSpeed.measured(kind != Kind.PLAIN, kind == Kind.TLS ? both : secret);
        Path run = folder.resolve(kind + "-" + round);
        columns.get(0).add(kind, List.of(1e3 * speed.connectSeconds()));
        columns.get(1).add(kind, List.of(1e6 * speed.roundTripSeconds()));
        columns.get(2).add(kind, List.of(1e-9 * speed.bytesPerSecond()));
        columns.get(3).add(kind, steps(kind, run.resolve("stages"), PIPELINE, files));
        columns.get(4).add(kind, steps(kind, run.resolve("replicas"), REPLICAS, files));
      }
    }
    return report(columns);
  }

  /** Milliseconds of steps. */
  private static List<Double> steps(
      Kind kind, Path run, List<String> training, CertificateFiles files)
      throws IOException, InterruptedException {
    if (kind == Kind.PLAIN) {
      TwoRanks.finish(TwoRanks.command(run, training), Map.of());
    } else {
      List<String> all = new ArrayList<>(training);
      if (kind == Kind.TLS) {
        all.add(CertificateFiles.CERTIFICATE + "=" + files.certificate());
        all.add(CertificateFiles.KEY + "=" + files.key());
        all.add(CertificateFiles.AUTHORITIES + "=" + files.authorities());
      }
      TwoRanks.train(run, all);
    }
    return TwoRanks.seconds(run, WARM_UP).stream().map(seconds -> 1e3 * seconds).toList();
  }

  private static Report report(List<Column> columns) {
    Markdown table = new Markdown("", "plain", "sealed", "TLS");
    for (Column column : columns) {
      table.row(
          column.name(),
          Numbers.significant(column.median(Kind.PLAIN)),
          Numbers.significant(column.median(Kind.SEALED)),
          Numbers.significant(column.median(Kind.TLS)));
    }
    return new Report("What protected connections cost")
        .paragraph(
            "`Reproduce secure-connections`: plain connections, as within a machine; sealed ones, as between machines; TLS 1.3 with certificates of P-256 at both ends. Both ends are on this machine, so its processors encrypt and decrypt alike. Medians of %d rounds in turn; of steps, those after the first %d."
                .formatted(ROUNDS, WARM_UP))
        .paragraph(
            "Steps: `train %s` and `train %s`, plain on one machine, otherwise as two ranks."
                .formatted(String.join(" ", PIPELINE), String.join(" ", REPLICAS)))
        .table(table);
  }
}
