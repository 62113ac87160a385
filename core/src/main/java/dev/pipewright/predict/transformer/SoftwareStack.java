package dev.pipewright.predict.transformer;

/**
 * The software of a run.
 *
 * @param framework which
 * @param release as its makers write it, {@code v25.04} or {@code 26.02.01}; empty where unknown
 * @param eager whether kernels are not compiled together
 * @param asyncTensorParallel whether torchtitan's asynchronous tensor parallelism is on
 * @param wholeIterationGraph whether CUDA graphs hold the whole iteration
 */
public record SoftwareStack(
    Framework framework,
    String release,
    boolean eager,
    boolean asyncTensorParallel,
    boolean wholeIterationGraph) {
  private static final String GRAPHS_WHOLE_ITERATIONS = "26.08"; // Megatron Bridge from here

  /** The period of the framework that a constant {@code speed.FRAMEWORK.PERIOD} belongs to. */
  String period() {
    return switch (framework) {
      case NEMO ->
          switch (release) {
            case "v25.01" -> "25.01";
            case "v25.02", "v25.02.02" -> "25.02";
            default -> "25.04";
          };
      case MEGATRON_BRIDGE ->
          switch (release) {
            case "25.09", "25.11", "26.02" -> release;
            case "26.02.01", "26.04", "26.04.01", "" -> "26.02.01";
            default -> "26.06";
          };
      default -> "";
    };
  }

  boolean graphsWholeIterations() {
    return wholeIterationGraph
        || (framework == Framework.MEGATRON_BRIDGE
            && release.compareTo(GRAPHS_WHOLE_ITERATIONS) >= 0);
  }
}
