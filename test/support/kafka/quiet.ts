import type { KafkaLogger } from '#message-log';

const nothing = (): void => undefined;

/** For clients whose failures the test sees anyway. */
export const quiet: KafkaLogger = { debug: nothing, info: nothing, warn: nothing };
