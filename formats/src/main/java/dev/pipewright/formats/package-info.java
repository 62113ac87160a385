/**
 * Reads and writes the world's files, one class per format.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.GraphText}</td><td>others' profiles; read</td></tr>
 * <tr><td>{@code LayerTable}</td><td>layers as comma-separated values; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.ProfileJson}</td><td>profiles; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.ParadlNet}</td><td>ParaDL's networks; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.ParadlPlatform}</td><td>ParaDL's clusters; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.ParadlSwitches}</td><td>ParaDL's lists of layers; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.CollectiveTimings}</td><td>nccl-tests, OSU, CSV; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.LinkFitJson}</td><td>fitted links; write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.ScheduleCsv}</td><td>PyTorch's schedules; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.ScheduleJson}</td><td>a schedule that ran; write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.ScheduleJsonReader}</td><td>the same; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.MemoryCurveCsv}</td><td>memory over time; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.ClusterYaml}</td><td>clusters; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.PlanJson}</td><td>plans; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.AnswerJson}</td><td>a planner's answer; write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.StudyJson}</td><td>the oracle's answer; write</td></tr>
 * </table>
 *
 * <p>{@code docs/formats.md} describes them for users. Whatever is wrong with a file is a {@link
 * dev.pipewright.formats.BadInputException} whose message is one sentence with file, line and
 * remedy. Jackson is loaded only when JSON or YAML is read; writing does without it.
 */
@NullMarked
package dev.pipewright.formats;

import org.jspecify.annotations.NullMarked;
