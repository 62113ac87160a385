/**
 * Plans that other programs' files hold, recognised by content.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.imported.MegatronPlan}</td><td>arguments of Megatron-LM</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.imported;

import org.jspecify.annotations.NullMarked;
