package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.NumberFormats.Products;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Mixed precision, by the format of the products. State is in 32 bits as with {@code BF16}. */
public enum TrainingPrecision {
  BF16(Products.HALF),
  FP16(Products.HALF),
  FP8(Products.FP8),
  MXFP8(Products.MXFP8),
  NVFP4(Products.NVFP4);

  private final Products products;

  TrainingPrecision(Products products) {
    this.products = products;
  }

  /** As users write it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The precision of a word; empty where none is called so. */
  public static Optional<TrainingPrecision> find(String word) {
    return Arrays.stream(values()).filter(each -> each.word().equals(word)).findFirst();
  }

  /** All words. */
  public static List<String> words() {
    return Arrays.stream(values()).map(TrainingPrecision::word).toList();
  }

  Products products() {
    return products;
  }
}
