package dev.pipewright.bench.oracle;

import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.formats.oracle.MeasuredTable;
import dev.pipewright.predict.transformer.MeasuredStep;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * Published steps of networks to which no constant was fitted: Llama 3.1 405B, DeepSeek-V3, Qwen3
 * 235B-A22B and GPT-OSS 120B.
 *
 * <p>Source: Megatron-Bridge, {@code docs/performance-summary.md} at commit 00b7660b, container
 * 25.11; seconds of a step follow from its tokens per second and GPU. It leaves recomputation,
 * gradients' precision and sequence parallelism open: here they are none, 16 bits with products in
 * 8, and on where tensor parallelism is. A row without a batch and those of networks with fitted
 * rows are left out.
 */
final class UnseenSteps {
  private static final String FILE = "megatron-bridge-25.11.csv";

  private UnseenSteps() {}

  static List<MeasuredStep> read() {
    try (InputStream in = Objects.requireNonNull(UnseenSteps.class.getResourceAsStream(FILE))) {
      String csv = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return MeasuredTable.of(PublishedSteps.table(csv), MachineSheets.read()).steps();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
