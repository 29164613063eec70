import { z } from 'zod';
import { describeEmpty, describeFile } from './answers.js';
import type { RefusalContent } from './operation.js';

/** Another page that the browser requests with GET. */
export const nextPage = describeEmpty({
  description: 'Leads to the next page.',
  headers: { Location: z.string().meta({ description: 'The path of the page.' }) },
});

export const htmlPage = describeFile('text/html', { description: 'A page.' });

/** Refusals of pages are pages too. */
export const pageRefusalContent: RefusalContent = {
  mediaType: 'text/html',
  schema: z.string().meta({ override: { contentMediaType: 'text/html' } }),
};
