import { z } from 'zod';
import { describeEmpty, describeFile } from './answers.js';
import type { OperationDescription } from './operation.js';

/** Another page that the browser requests with GET. */
export const nextPage = describeEmpty({
  description: 'Leads to the next page.',
  headers: { Location: z.string().meta({ description: 'The path of the page.' }) },
});

export const htmlPage = describeFile('text/html', { description: 'A page.' });

/** Members of every page: refusals are pages too, and the browser may have to sign in first. */
export const pageRefusalContent: NonNullable<OperationDescription['refusalContent']> = {
  mediaType: 'text/html',
  schema: z.string().meta({ override: { contentMediaType: 'text/html' } }),
};
