import { z } from 'zod';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_PARAMETER_CHARACTERS, MAX_PARAMETER_VALUES } from '../paging.js';
import { DEFAULT_DAYS, DEFAULT_ZONE, MAX_DAYS } from '../day-filters.js';
import { AS_OF } from '../point-in-time.js';
import type { PathParameterDescription } from './operation.js';

/** A list in one parameter, separated by commas. */
const separatedByCommas = { style: 'form', explode: false } as const;

type Limits = { readonly mostCharacters?: number; readonly mostValues?: number };

/** Query parameters with a text. */
export const parameter = {
  /** Describes a parameter that `getParameter` reads. */
  text: (description: string, { mostCharacters = MAX_PARAMETER_CHARACTERS }: Limits = {}) =>
    z.string().max(mostCharacters).optional().meta({ description }),

  /** Describes a parameter that `requireParameter` reads. */
  required: (description: string) => z.string().min(1).max(MAX_PARAMETER_CHARACTERS).meta({ description }),

  /** Describes a parameter that `getListParameter` reads. */
  list: (
    description: string,
    { mostCharacters = MAX_PARAMETER_CHARACTERS, mostValues = MAX_PARAMETER_VALUES }: Limits = {},
  ) =>
    z
      .array(z.string().max(mostCharacters))
      .max(mostValues)
      .optional()
      .meta({ description: `${description} Separate values with commas.`, param: separatedByCommas }),

  /** Describes a parameter with one of several values. */
  choice: (values: readonly string[], description: string) => z.enum(values).optional().meta({ description }),

  /** Describes a list in one parameter with several of these values. */
  choices: (values: readonly string[], description: string) =>
    z
      .array(z.enum(values))
      .max(MAX_PARAMETER_VALUES)
      .optional()
      .meta({ description: `${description} Separate values with commas.`, param: separatedByCommas }),
};

/** Describes the parameters that `parsePage` reads. */
export const pageParameters = (defaultSize = DEFAULT_PAGE_SIZE, maxSize = MAX_PAGE_SIZE) => ({
  'page[number]': z.int().min(1).max(999_999_999).default(1).meta({ description: 'The number of the page.' }),
  'page[size]': z
    .int()
    .min(1)
    .max(999_999_999)
    .default(defaultSize)
    .meta({ description: `The number of resources on a page. A larger number than ${maxSize} counts as ${maxSize}.` }),
});

/** Describes the page parameters of a list that is complete without them. */
export const optionalPageParameters = (defaultSize = DEFAULT_PAGE_SIZE, maxSize = MAX_PAGE_SIZE) => ({
  'page[number]': z
    .int()
    .min(1)
    .max(999_999_999)
    .optional()
    .meta({ description: 'The number of the page. Without a number and a size, the answer has the whole list.' }),
  'page[size]': z
    .int()
    .min(1)
    .max(999_999_999)
    .optional()
    .meta({
      description: `The number of resources on a page, ${defaultSize} if only the number of the page is sent. A larger number than ${maxSize} counts as ${maxSize}.`,
    }),
});

/** Describes the parameter that `parseSort` reads. */
export const sortParameter = (sorts: readonly string[], description = 'The order of the list.') => ({
  sort: z
    .enum(sorts.flatMap((sort) => [sort, `-${sort}`]))
    .optional()
    .meta({ description: `${description} A leading \`-\` reverses it.` }),
});

/** Describes the parameter that `parseInclude` reads. */
export const includeParameter = (values: readonly string[]) => ({
  include: z.array(z.enum(values)).optional().meta({
    description: 'Related resources to add to the document. Separate values with commas.',
    param: separatedByCommas,
  }),
});

/** Describes the parameters that `parseCalendarDays` reads. */
export const calendarDayParameters = () => ({
  'filter[days]': z
    .int()
    .min(1)
    .max(MAX_DAYS)
    .default(DEFAULT_DAYS)
    .meta({ description: 'The number of days, today included.' }),
  'filter[time-zone]': z
    .string()
    .max(MAX_PARAMETER_CHARACTERS)
    .default(DEFAULT_ZONE)
    .meta({ description: 'The name of the time zone of the days, such as `Europe/Berlin`.' }),
});

/** Describes the parameter of reads of a past state. */
export const asOfParameter = () => ({
  [AS_OF]: z.string().optional().meta({
    description: 'An ISO 8601 timestamp. The document shows the state at this time.',
    format: 'date-time',
  }),
});

/**
 * Describes the parameter `token` of a path that is a signed link (`SignedLinks`). `source`: the member of another answer
 * that has the link; `lifetime`: how long the link is valid.
 */
export const signedLinkParameter = (
  source: string,
  lifetime: string,
): { readonly token: PathParameterDescription } => ({
  token: {
    description: `The signature of a link. Take the whole link from ${source}. It is valid for ${lifetime}, for everyone who has it.`,
    example: 'WyJpZCIsMTc2OTg2MzAxNTEyM10.q1Zb8kT0mXy3cN5vR7sJ2wLd4hF6gP9aUeYiOoKxBtE',
  },
});

/** The reason why a signed link gets 403. */
export const INVALID_LINK = 'The link is not valid, or it has expired.';
