package dev.pipewright.predict.paradl;

import static dev.pipewright.predict.paradl.StrategyEstimates.bytesPerSecond;
import static dev.pipewright.predict.paradl.StrategyEstimates.near;
import static dev.pipewright.predict.paradl.StrategyEstimates.predicted;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.cost.Workload;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.units.Precision;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** ZeRO's stages: what they send, and what each device keeps. */
class ShardedEstimateTest {
  @ParameterizedTest
  @EnumSource(names = {"ZERO1", "ZERO2", "ZERO3"})
  void shardedDataParallelismSendsAsMuchAndThePartOfItThatGathersWeights(Strategy strategy) {
    Workload workload =
        SmallNet.input(3, 8, 8).convolution(8, 3, 1, 1).connected(10).on(bytesPerSecond(8), 1);
    double numbers = 3 * 9 * 8 + 8 + (512 + 1) * 10;
    double part = Math.ceil(numbers / 8);
    Phases data = predicted(workload, Strategy.DATA, 8).phases();
    Phases sharded = predicted(workload, strategy, 8).phases();
    double factor = strategy == Strategy.ZERO3 ? 1.5 : 1;
    double seconds = factor * data.communication() * 8 * part / numbers;
    near(seconds, sharded.communication());
    near(data.seconds(Phase.WEIGHT_UPDATE) * part / numbers, sharded.seconds(Phase.WEIGHT_UPDATE));
    near(
        strategy == Strategy.ZERO3 ? 2 * 7 * 4 * part : 0, sharded.seconds(Phase.LAYER_ALL_GATHER));
  }

  /**
   * Adam's 16 or 18 bytes for each parameter over N = 8 devices (ZeRO, SC 2020, figure 1, whose
   * gradients have 16 bits: ours have 32). ZeRO-1: 6 + 12/8, ZeRO-2: 2 + 16/8, ZeRO-3: 18/8.
   */
  @ParameterizedTest
  @CsvSource({
    "FP32, DATA, 4, 4, 8",
    "FP32, ZERO1, 4, 4, 1",
    "FP32, ZERO2, 4, 0.5, 1",
    "FP32, ZERO3, 0.5, 0.5, 1",
    "BF16, DATA, 2, 4, 12",
    "BF16, ZERO1, 2, 4, 1.5",
    "BF16, ZERO2, 2, 0.5, 1.5",
    "BF16, ZERO3, 0.25, 0.5, 1.5",
    "FP16, ZERO1, 2, 4, 1.5",
    "TF32, ZERO2, 4, 0.5, 1"
  })
  void shardedStateIsDividedByTheDevices(
      Precision precision, Strategy strategy, double weight, double gradient, double optimizer) {
    SmallNet net = SmallNet.input(3, 8, 8).convolution(8, 3, 1, 1).connected(10);
    Training training = new Training(Optimizer.ADAM, precision);
    Workload workload = net.on(SmallNet.nodes(2, 1), 1, training);
    double numbers = 3 * 9 * 8 + 8 + (512 + 1) * 10;
    assertEquals(numbers, (double) workload.chain().graph().parameters());
    boolean sharded = strategy != Strategy.DATA;
    double parameters = sharded ? 8 * Math.ceil(numbers / 8) : numbers; // equal parts
    MemoryUse use = predicted(workload, strategy, 8).memory();
    near(parameters * weight, use.weights());
    near((strategy == Strategy.ZERO1 ? numbers : parameters) * gradient, use.gradients());
    near(parameters * optimizer, use.optimizer());
    double summed = 2 * parameters * 4; // a device's own gradients and what others send
    near(sharded ? summed - use.gradients() : 0, use.buffers());
  }
}
