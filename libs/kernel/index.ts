export * from './decider.js';
export * from './event-kinds.js';
export * from './message.js';
export * from './ports.js';
export * from './projection.js';
export * from './recorded.js';
export * from './refused.js';
export * from './sql.js';
