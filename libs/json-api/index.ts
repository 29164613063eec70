export * from './body.js';
export * from './document.js';
export * from './include.js';
export * from './inputs.js';
export * from './media-type.js';
export * from './paging.js';
export * from './refused.filter.js';
export * from './related.js';
