/** A command or an event: a name, which is one greppable word, and its data. */
export type Message<Type extends string = string, Data = unknown> = { readonly type: Type; readonly data: Data };

/** The data of the message named `T` in the union `M`. */
export type DataOf<M extends Message, T extends M['type']> = Extract<M, { readonly type: T }>['data'];

/**
 * One table per question: message type → function. A missing or misspelt key does not compile, so adding an event
 * makes the compiler list every place that must have an opinion.
 */
export type HandlersByType<M extends Message, Rest extends readonly unknown[], Result> = {
  readonly [T in M['type']]: (data: DataOf<M, T>, ...rest: Rest) => Result;
};
