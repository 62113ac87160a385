package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;

/**
 * Inception-v3: a stem of convolutions, eleven modules of parallel branches that are joined along
 * the channels, and a classifier. Kernels of 1 × 7 and 7 × 1 take the place of 7 × 7.
 *
 * <p>Source: C. Szegedy et al., <i>Rethinking the Inception architecture for computer vision</i>,
 * CVPR 2016, arXiv:1512.00567, Table 1 and Figures 5 to 7, with the filters that the authors
 * published and PyTorch's torchvision has; layers are named as there. Departs: without the
 * auxiliary classifier, which training may use and inference leaves out (23,834,568 parameters;
 * with it 27,161,264).
 *
 * <p>A sample is a 299 × 299 image. A convolution's layer includes its normalisation and its ReLU
 * and keeps what the three keep: the branches of eleven modules with three layers in place of one
 * would leave too many places to cut ({@link dev.pipewright.model.Chain}).
 */
final class InceptionV3 {
  private static final int CLASSES = 1000;
  private static final Window ONE = Window.square(1);
  private static final Window THREE = Window.square(3);
  private static final Window HALVE = Window.square(3).every(2);
  private static final Window ROW_OF_THREE = Window.of(1, 3).padded();
  private static final Window COLUMN_OF_THREE = Window.of(3, 1).padded();
  private static final Window ROW_OF_SEVEN = Window.of(1, 7).padded();
  private static final Window COLUMN_OF_SEVEN = Window.of(7, 1).padded();

  private final Blueprint network = Blueprint.of(FeatureMap.square(3, 299));

  private InceptionV3() {}

  static LayerGraph inceptionV3() {
    return new InceptionV3().graph("inception-v3");
  }

  private LayerGraph graph(String name) {
    int last = convolution("Conv2d_1a_3x3", 0, 32, HALVE);
    last = convolution("Conv2d_2a_3x3", last, 32, THREE);
    last = convolution("Conv2d_2b_3x3", last, 64, THREE.padded());
    last = network.maxPooling("maxpool1", last, HALVE);
    last = convolution("Conv2d_3b_1x1", last, 80, ONE);
    last = convolution("Conv2d_4a_3x3", last, 192, THREE);
    last = network.maxPooling("maxpool2", last, HALVE);
    last = fives("Mixed_5b", last, 32);
    last = fives("Mixed_5c", last, 64);
    last = fives("Mixed_5d", last, 64);
    last = firstReduction("Mixed_6a", last);
    last = sevens("Mixed_6b", last, 128);
    last = sevens("Mixed_6c", last, 160);
    last = sevens("Mixed_6d", last, 160);
    last = sevens("Mixed_6e", last, 192);
    last = secondReduction("Mixed_7a", last);
    last = fans("Mixed_7b", last);
    last = fans("Mixed_7c", last);
    last = network.globalPooling("avgpool", last);
    network.fullyConnected("fc", last, CLASSES);
    return network.graph(name);
  }

  /** 35 × 35: branches of 1 × 1, 5 × 5, two 3 × 3 and a pooling. Figure 5. */
  private int fives(String module, int from, int pooled) {
    int one = convolution(module + ".branch1x1", from, 64, ONE);
    int five = convolution(module + ".branch5x5_1", from, 48, ONE);
    five = convolution(module + ".branch5x5_2", five, 64, Window.square(5).padded());
    int three = convolution(module + ".branch3x3dbl_1", from, 64, ONE);
    three = convolution(module + ".branch3x3dbl_2", three, 96, THREE.padded());
    three = convolution(module + ".branch3x3dbl_3", three, 96, THREE.padded());
    return join(module, one, five, three, pool(module, from, pooled));
  }

  /** From 35 × 35 to 17 × 17. Figure 10. */
  private int firstReduction(String module, int from) {
    int three = convolution(module + ".branch3x3", from, 384, HALVE);
    int twice = convolution(module + ".branch3x3dbl_1", from, 64, ONE);
    twice = convolution(module + ".branch3x3dbl_2", twice, 96, THREE.padded());
    twice = convolution(module + ".branch3x3dbl_3", twice, 96, HALVE);
    return join(module, three, twice, network.maxPooling(module + ".pool", from, HALVE));
  }

  /** 17 × 17: branches of 1 × 1, 7 × 7 in two parts, 7 × 7 twice, and a pooling. Figure 6. */
  private int sevens(String module, int from, int width) {
    int one = convolution(module + ".branch1x1", from, 192, ONE);
    int seven = convolution(module + ".branch7x7_1", from, width, ONE);
    seven = convolution(module + ".branch7x7_2", seven, width, ROW_OF_SEVEN);
    seven = convolution(module + ".branch7x7_3", seven, 192, COLUMN_OF_SEVEN);
    int twice = convolution(module + ".branch7x7dbl_1", from, width, ONE);
    twice = convolution(module + ".branch7x7dbl_2", twice, width, COLUMN_OF_SEVEN);
    twice = convolution(module + ".branch7x7dbl_3", twice, width, ROW_OF_SEVEN);
    twice = convolution(module + ".branch7x7dbl_4", twice, width, COLUMN_OF_SEVEN);
    twice = convolution(module + ".branch7x7dbl_5", twice, 192, ROW_OF_SEVEN);
    return join(module, one, seven, twice, pool(module, from, 192));
  }

  /** From 17 × 17 to 8 × 8. */
  private int secondReduction(String module, int from) {
    int three = convolution(module + ".branch3x3_1", from, 192, ONE);
    three = convolution(module + ".branch3x3_2", three, 320, HALVE);
    int seven = convolution(module + ".branch7x7x3_1", from, 192, ONE);
    seven = convolution(module + ".branch7x7x3_2", seven, 192, ROW_OF_SEVEN);
    seven = convolution(module + ".branch7x7x3_3", seven, 192, COLUMN_OF_SEVEN);
    seven = convolution(module + ".branch7x7x3_4", seven, 192, HALVE);
    return join(module, three, seven, network.maxPooling(module + ".pool", from, HALVE));
  }

  /** 8 × 8: two branches fan out into a row and a column of three. Figure 7. */
  private int fans(String module, int from) {
    int one = convolution(module + ".branch1x1", from, 320, ONE);
    int three = convolution(module + ".branch3x3_1", from, 384, ONE);
    int row = convolution(module + ".branch3x3_2a", three, 384, ROW_OF_THREE);
    int column = convolution(module + ".branch3x3_2b", three, 384, COLUMN_OF_THREE);
    int twice = convolution(module + ".branch3x3dbl_1", from, 448, ONE);
    twice = convolution(module + ".branch3x3dbl_2", twice, 384, THREE.padded());
    int twiceRow = convolution(module + ".branch3x3dbl_3a", twice, 384, ROW_OF_THREE);
    int twiceColumn = convolution(module + ".branch3x3dbl_3b", twice, 384, COLUMN_OF_THREE);
    return join(module, one, row, column, twiceRow, twiceColumn, pool(module, from, 192));
  }

  private int pool(String module, int from, int channels) {
    int pooled = network.averagePooling(module + ".pool", from, THREE.padded());
    return convolution(module + ".branch_pool", pooled, channels, ONE);
  }

  private int join(String module, int... branches) {
    return network.concatenation(module, branches);
  }

  private int convolution(String name, int from, int channels, Window window) {
    return network.normalizedConvolution(name, from, channels, window);
  }
}
