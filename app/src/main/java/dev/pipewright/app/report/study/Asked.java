package dev.pipewright.app.report.study;

/**
 * What a study is about, in words.
 *
 * @param title the heading: {@code vgg-16 on abci}
 * @param model the model's name
 * @param cluster the cluster's name and size
 * @param question what was asked: {@code 32 samples per device, 1,281,167 per epoch}
 * @param provenance where times and sizes come from, in one line
 */
public record Asked(
    String title, String model, String cluster, String question, String provenance) {}
