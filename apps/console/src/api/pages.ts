type PageOfList = { readonly meta: { readonly pagination: { readonly 'next-page': number | null } } };

/** Returns all pages of a list that is short enough to show as a whole. `readPage` requests the page with this number. */
export const readAllPages = async <P extends PageOfList>(
  readPage: (page: number) => Promise<P>,
): Promise<readonly P[]> => {
  const pages: P[] = [];
  for (let number: number | null = 1; number !== null;) {
    const page: P = await readPage(number);
    pages.push(page);
    number = page.meta.pagination['next-page'];
  }
  return pages;
};
