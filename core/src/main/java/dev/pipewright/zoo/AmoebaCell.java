package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Work;
import java.util.Optional;

/**
 * Sums up a cell of AmoebaNet-D operator by operator: parameters, FLOP, elements kept and moved.
 *
 * <p>A cell computes states. States 0 and 1 are the outputs of the previous cell and the one before
 * it, brought to the cell's filters by a 1 × 1 convolution (and to the size of state 0, where it is
 * larger). States 2 to 6 are sums of two operations on earlier states. What is not read within the
 * cell, with state 0 or 3 in the normal cell, is concatenated.
 *
 * <pre>
 *        normal cell                            reduction cell (from 0 and 1: stride 2)
 *   2 =  1×1(1)        + max 3×3(1)             max 2×2(0)      + max 3×3(0)
 *   3 =  1             + 1×7·7×1(0)             2               + 3×3(1)
 *   4 =  1×1(0)        + 1×7·7×1(0)             1×7·7×1(2)      + max 3×3(2)
 *   5 =  max 3×3(2)    + 2                      3               + max 2×2(1)
 *   6 =  avg 3×3(1)    + 1×1(5)                 avg 3×3(2)      + 1×1(3)
 *  out = 0 3 4 6                                4 5 6
 * </pre>
 *
 * <p>A convolution is ReLU, product, batch normalisation; it keeps the ReLU's output and the
 * normalisation's input, and moves its input three times and its output four times. 3 × 3 and 1 × 7
 * · 7 × 1 work on a quarter of the filters between two 1 × 1 convolutions. A maximum keeps its
 * input and output.
 */
final class AmoebaCell {
  private long parameters;
  private long kept;
  private double flop;
  private double moved;
  private FeatureMap output = FeatureMap.square(1, 1);

  static AmoebaCell normal(FeatureMap last, FeatureMap beforeLast, int filters) {
    AmoebaCell cell = new AmoebaCell();
    FeatureMap state = last.to(filters, 1);
    cell.squeeze(last, beforeLast, filters);
    for (int i = 0; i < 3; i++) {
      cell.convolution(state, state, 1, 1);
    }
    for (int i = 0; i < 2; i++) {
      cell.oneBySeven(state);
      cell.maximum(state, state);
    }
    cell.average(state);
    cell.close(state, 4);
    return cell;
  }

  static AmoebaCell reduction(FeatureMap last, FeatureMap beforeLast, int filters) {
    AmoebaCell cell = new AmoebaCell();
    cell.squeeze(last, beforeLast, filters);
    FeatureMap in = last.to(filters, 1);
    cell.reduce(in, in);
    return cell;
  }

  /** The first cell, whose both inputs are the stem; state 1 is the stem as it is. */
  static AmoebaCell firstReduction(FeatureMap stem, int filters) {
    AmoebaCell cell = new AmoebaCell();
    FeatureMap in = stem.to(filters, 1);
    cell.convolution(stem, in, 1, 1);
    FeatureMap pooled = stem.to(stem.channels(), 2);
    cell.convolution(pooled, pooled.to(filters, 1), 1, 1); // its maximum has the stem's filters
    cell.reduce(in, stem);
    return cell;
  }

  private void squeeze(FeatureMap last, FeatureMap beforeLast, int filters) {
    convolution(last, last.to(filters, 1), 1, 1);
    convolution(beforeLast, last.to(filters, 1), 1, 1);
  }

  private void reduce(FeatureMap state0, FeatureMap state1) {
    FeatureMap state = state0.to(state0.channels(), 2);
    maximum(state0, state);
    maximum(state0, state);
    maximum(state1, state1.to(state1.channels(), 2));
    maximum(state, state);
    threeByThree(state1, state);
    oneBySeven(state);
    convolution(state, state, 1, 1);
    average(state);
    close(state, 3);
  }

  /** ReLU, convolution with a {@code height} × {@code width} kernel, normalisation. */
  void convolution(FeatureMap in, FeatureMap out, int height, int width) {
    long window = (long) height * width * in.channels();
    parameters += (window + 2) * out.channels();
    flop += 2.0 * window * out.elements();
    moved += 3.0 * in.elements() + 4.0 * out.elements();
    kept += in.elements() + out.elements();
  }

  private void threeByThree(FeatureMap in, FeatureMap out) {
    int quarter = out.channels() / 4;
    FeatureMap wide = in.to(quarter, 1);
    FeatureMap narrow = out.to(quarter, 1);
    convolution(in, wide, 1, 1);
    convolution(wide, narrow, 3, 3);
    convolution(narrow, out, 1, 1);
  }

  private void oneBySeven(FeatureMap state) {
    FeatureMap narrow = state.to(state.channels() / 4, 1);
    convolution(state, narrow, 1, 1);
    convolution(narrow, narrow, 1, 7);
    convolution(narrow, narrow, 7, 1);
    convolution(narrow, state, 1, 1);
  }

  private void maximum(FeatureMap in, FeatureMap out) {
    moved += in.elements() + out.elements();
    kept += in.elements() + out.elements();
  }

  private void average(FeatureMap state) {
    moved += 2.0 * state.elements();
  }

  /** The five sums, and {@code states} states side by side. */
  private void close(FeatureMap state, int states) {
    output = state.to(states * state.channels(), 1);
    moved += 15.0 * state.elements() + 2.0 * output.elements();
  }

  FeatureMap output() {
    return output;
  }

  /** The cell as a layer; the {@code first} of a network hands no gradient on. */
  Layer layer(String name, FeatureMap out, boolean first) {
    Operator operator = new Operator.Block("cell");
    Work work = new Work(flop, first ? 0 : flop, flop, moved);
    return new Layer(
        name, operator, Optional.of(out.shape()), parameters, out.elements(), kept, work);
  }
}
