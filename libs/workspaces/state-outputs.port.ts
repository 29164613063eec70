/** What neighbours who keep the state files tell of them: values are nowhere else, as they may be secrets. */
export abstract class StateOutputs {
  /** Real values of a finalized version's outputs, by name. */
  abstract outputValues(stateVersion: string): Promise<ReadonlyMap<string, unknown>>;
}
