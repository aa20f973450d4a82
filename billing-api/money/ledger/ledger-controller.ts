import { Body, Controller, Extension, Get, Post, Query, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { Currency, DateTime } from '../../records/record-dto.js';
import { pageToDto } from '../../records/search-records.js';
import type { LedgerBalancesDto, PostingListDto, SearchPostingsBody } from './ledger-dto.js';
import { readBalances, searchPostings } from './read-ledger.js';
import type { BooksDto } from './books-dto.js';
import { verifyBooks, type VerifyDependencies } from './verify-books.js';

@Route('v1/ledger')
@Tags('Ledger')
export class LedgerController extends Controller {
  constructor(private readonly dependencies: VerifyDependencies) {
    super();
  }

  // tsoa requires that each query parameter is an argument.
  /* eslint-disable max-params */
  /**
   * What every account holds at an instant. All add up to 0.
   * @summary Read the balances of the ledger
   * @param at Now when absent.
   */
  @Get('balances')
  @Extension('x-operation', { entity: 'ledger', access: 'read', rate: 'heavy' })
  public async readBalances(
    @Request() request: HttpRequest,
    @Query() currency: Currency,
    @Query() at?: DateTime,
    @Query() customer_id?: string,
  ): Promise<LedgerBalancesDto> {
    const query = { currency, at, customer_id };
    return accepted(await readBalances(this.dependencies, occasionOf(request), query));
  }

  /* eslint-enable max-params */

  /**
   * The sides of movements of money, latest first. A posting is never changed.
   * @summary Search postings
   */
  @Post('postings/search')
  @Extension('x-operation', { entity: 'ledger', access: 'read' })
  public async searchPostings(
    @Request() request: HttpRequest,
    @Body() body: SearchPostingsBody,
  ): Promise<PostingListDto> {
    const page = accepted(await searchPostings(this.dependencies, occasionOf(request), body));
    return pageToDto(page, (posting) => posting);
  }

  /**
   * Computes the chain of hashes of all movements again, compares it with the last anchor, and
   * compares invoices, payments, credit notes and wallets with their postings.
   * @summary Verify the books
   * @param anchor The signature of an anchor that was kept elsewhere; that there is none with it is
   *   a problem.
   */
  @Get('verify')
  @Extension('x-operation', { entity: 'ledger', access: 'read', rate: 'heavy' })
  public async verifyBooks(
    @Request() request: HttpRequest,
    @Query() anchor?: string,
  ): Promise<BooksDto> {
    return verifyBooks(this.dependencies, occasionOf(request), { keptAnchor: anchor });
  }
}
