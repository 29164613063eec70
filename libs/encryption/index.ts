export { Envelope } from './envelope.js';
