package dev.pipewright.runtime.data;

import java.util.List;

/**
 * Turns the bytes of a channel, 0 to 255, into numbers with mean 0 and deviation 1 over a data set.
 *
 * @param mean and {@code deviation} where 255 counts as 1
 */
record PixelScale(float mean, float deviation) {
  /** Over the 50,000 training images of CIFAR-10. */
  static final List<PixelScale> CIFAR10 =
      List.of(
          new PixelScale(0.4914f, 0.2470f),
          new PixelScale(0.4822f, 0.2435f),
          new PixelScale(0.4465f, 0.2616f));

  /** Over the 60,000 training images of MNIST. */
  static final List<PixelScale> MNIST = List.of(new PixelScale(0.1307f, 0.3081f));

  /** Over ImageNet's, as is usual for photographs. */
  static final List<PixelScale> PHOTOGRAPHS =
      List.of(
          new PixelScale(0.485f, 0.229f),
          new PixelScale(0.456f, 0.224f),
          new PixelScale(0.406f, 0.225f));

  /** The scale where nothing is known of a data set. */
  static final PixelScale ANY = new PixelScale(0.5f, 0.25f);

  float of(float pixel) {
    return (pixel / 255 - mean) / deviation;
  }
}
