import {
  Body,
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import {
  creditNoteToDto,
  type CreateCreditNoteBody,
  type CreditNoteDto,
  type CreditNoteListDto,
} from '../../declarations/money/credit-note.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
import { pageToDto } from '../../records/search-records.js';
import type { WriteDependencies } from '../../records/unit.js';
import { createCreditNote, finalizeCreditNote, voidCreditNote } from './create-note.js';
import {
  listCreditNotes,
  readCreditNote,
  type FullCreditNoteDto,
  type ListCreditNotesQuery,
} from './read-notes.js';

@Route('v1/creditnotes')
@Tags('Credit notes')
export class CreditNotesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * Lowers what is to be paid of a finalized invoice, or gives paid money back to a wallet. A
   * repeated `idempotency_key` answers the first note.
   * @summary Create a credit note
   */
  @Post()
  @Extension('x-operation', {
    entity: 'credit_note',
    access: 'write',
    versioned: true,
    notFound: true,
  })
  @SuccessResponse(201, 'Created')
  public async createCreditNote(
    @Request() request: HttpRequest,
    @Body() body: CreateCreditNoteBody,
  ): Promise<CreditNoteDto> {
    const note = accepted(await createCreditNote(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, note.row.version);
    return creditNoteToDto(note);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List credit notes
   */
  @Get()
  @Extension('x-operation', { entity: 'credit_note', access: 'read' })
  public async listCreditNotes(
    @Request() request: HttpRequest,
    @Queries() query: ListCreditNotesQuery,
  ): Promise<CreditNoteListDto> {
    const page = accepted(await listCreditNotes(this.dependencies, occasionOf(request), query));
    return pageToDto(page, (note) => note);
  }

  /** @summary Read a credit note */
  @Get('{id}')
  @Extension('x-operation', { entity: 'credit_note', access: 'read', versioned: true })
  public async readCreditNote(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<FullCreditNoteDto> {
    const note = accepted(await readCreditNote(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, note.version);
    return note;
  }

  /** @summary Finalize a credit note */
  @Post('{id}/finalize')
  @Extension('x-operation', { entity: 'credit_note', access: 'write', versioned: true })
  public async finalizeCreditNote(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CreditNoteDto> {
    const target = { id, isExpected: expectedVersions(request) };
    const done = await finalizeCreditNote(this.dependencies, occasionOf(request), target);
    const note = accepted(done);
    tagVersion(this, note.row.version);
    return creditNoteToDto(note);
  }

  /**
   * An adjustment is undone; a refund that was given back stays.
   * @summary Void a credit note
   */
  @Post('{id}/void')
  @Extension('x-operation', { entity: 'credit_note', access: 'write', versioned: true })
  public async voidCreditNote(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CreditNoteDto> {
    const target = { id, isExpected: expectedVersions(request) };
    const note = accepted(await voidCreditNote(this.dependencies, occasionOf(request), target));
    tagVersion(this, note.row.version);
    return creditNoteToDto(note);
  }
}
