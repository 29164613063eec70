/**
 * Settings of `cadastre executor` that the executor in `serve` takes from the environment of the server. Options of the command
 * have these names (apps/executor/src/program.ts).
 */
export const EXECUTOR_VARIABLES: readonly string[] = [
  'CADASTRE_EXECUTOR_ACCEPT',
  'CADASTRE_EXECUTOR_CAPACITY',
  'CADASTRE_EXECUTOR_DISK_MIB',
  'CADASTRE_EXECUTOR_GRACE',
  'CADASTRE_EXECUTOR_MEMORY_MIB',
  'CADASTRE_EXECUTOR_NAME',
  'CADASTRE_EXECUTOR_PERMITTED_HOSTS',
  'CADASTRE_EXECUTOR_PROCESSORS',
  'CADASTRE_EXECUTOR_SANDBOX',
  'CADASTRE_EXECUTOR_WORK',
  'CADASTRE_TOOL_MIRROR',
  'CADASTRE_TOOL_SIGNATURES',
];
