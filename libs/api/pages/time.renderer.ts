import type { Timestamp } from '#platform/kernel';
import { html, type Html } from './html.js';

/** Returns a time in UTC, to the minute; a dash for null. */
export const renderTime = (time: Timestamp | null): Html =>
  time === null ? html`&ndash;` : html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;
