"""Makes the five folders of questions.ts, and a folder of short files, by libraries that are not of this project.

    python folders.py FOLDER
"""

import random
import sys
from email.message import EmailMessage
from pathlib import Path

from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

root = Path(sys.argv[1])
chance = random.Random(34)

NOUNS = """printer tray paper cartridge sensor door cover roller setting profile queue server network report harvest
orchard region price supplier clause invoice payment order delivery warranty engine pump valve filter schedule team
meeting budget storage route depot contract notice period limit damage insurance frost wind water soil""".split()
VERBS = "opens checks moves counts reports delays prints stores delivers pays replaces cleans limits follows".split()
WORDS = "daily broken new old small large local annual second empty full safe manual common final open".split()
REGIONS = "North South East West Center Coast Hills Valley".split()


def sentence():
    noun = lambda: f"{chance.choice(WORDS)} {chance.choice(NOUNS)}"
    return f"The {noun()} {chance.choice(VERBS)} the {noun()} of each {chance.choice(NOUNS)}."


def text(count):
    return " ".join(sentence() for _ in range(count))


def folder(name):
    (root / name).mkdir(parents=True, exist_ok=True)
    return root / name


def manual(path, pages=464):
    """A manual with bookmarks. Each page has the running head of its chapter; topics come up on many pages."""
    facts = {
        233: ["PCL Tray Mapping", "To set up PCL tray mapping, open Printer > Paper > Tray Mapping,",
              "choose Custom, and set tray 4 to PCL value 14."],
        87: ["Cleaning the Fuser", "Let the fuser cool for 45 minutes before you clean it,",
             "and use the felt pad of kit 604K-73140."],
        410: ["Waste Toner", "The waste cartridge is full after 43,500 pages."],
        **{301 + n: [f"Moving the Printer, step {n + 1}", f"Lock {'ABCDEFGH'[n]} takes pin {7301 + n * 13}."]
           for n in range(8)},
    }
    page_of = canvas.Canvas(str(path), pagesize=A4, invariant=1)
    page_of.setTitle("Printer manual")
    for number in range(pages):
        title, *lines = facts.get(number, [f"The {chance.choice(WORDS)} {chance.choice(NOUNS)}"])
        chapter = f"Chapter {number // 16 + 1}"
        if number % 16 == 0:
            page_of.bookmarkPage(chapter)
            page_of.addOutlineEntry(chapter, chapter, 0)
        page_of.bookmarkPage(f"p{number}")
        page_of.addOutlineEntry(title, f"p{number}", 1)
        page_of.setFont("Helvetica", 8)
        page_of.drawString(60, 810, f"{chapter}: tray, paper, toner and mapping")
        page_of.setFont("Helvetica-Bold", 16)
        page_of.drawString(60, 780, title)
        page_of.setFont("Helvetica", 10)
        for at, line in enumerate([*lines, *(sentence() for _ in range(36))]):
            page_of.drawString(60, 750 - at * 18, line)
        page_of.showPage()
    page_of.save()


def sheets(path):
    book = Workbook(write_only=True)
    yields = book.create_sheet("Yields")
    yields.append(["Region", "Orchard", "Year", "Tons", "Inspector"])
    rows = [[chance.choice(REGIONS), f"Orchard {n % 5000}", 2016 + n % 10, chance.randint(100, 9000),
             f"{chance.choice(WORDS)} {chance.choice(NOUNS)}"] for n in range(50_000)]
    rows[31_337] = ["East", "Quarry Lane", 2025, 4812, "Mira Feld"]
    rows[12_001] = ["East", "Quarry Lane", 2024, 4650, "Mira Feld"]
    rows[44_044] = ["Coast", "Lighthouse Field", 2025, 733, "Ola Brand"]
    for row in rows:
        yields.append(row)
    book.save(path)


def orders(path):
    lines = ["order,customer,item,pieces,status"]
    for n in range(50_000):
        lines.append(f"PO-{(n * 7919) % 1_000_003:07d},Customer {n % 3000},{chance.choice(NOUNS)},{n % 90},paid")
    lines[27_413] = "PO-7741902,Brook & Sons,roller,61,held by customs"
    lines[4_099] = "PO-7300455,Vale Orchards,filter,12,returned twice"
    path.write_text("\n".join(lines) + "\n")


def contract(path, title, special):
    document = Document()
    document.add_heading(title, 0)
    for chapter in range(1, 21):
        document.add_heading(f"{chapter} The {chance.choice(WORDS)} {chance.choice(NOUNS)}", 1)
        for clause in range(1, 13):
            number = f"{chapter}.{clause}"
            document.add_paragraph(f"{number} {special.get(number, text(4))}")
    document.save(path)


def slides(path):
    deck = Presentation()
    for number in range(60):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"{chance.choice(WORDS)} {chance.choice(NOUNS)}".title()
        slide.placeholders[1].text = "\n".join(sentence() for _ in range(4))
        slide.notes_slide.notes_text_frame.text = text(3)
        if number == 41:
            slide.shapes.title.text = "Wind Machines"
            slide.notes_slide.notes_text_frame.text = "Say that the wind machines come from Halden and cost 61,900 EUR each."
        if number == 17:
            slide.shapes.title.text = "Second Depot"
            slide.notes_slide.notes_text_frame.text = "The second depot opens on 14 May; do not mention Ruben."
    deck.save(path)


def mail(path, subject, body, attachment):
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ada@example.com", "bo@example.com", subject
    message["Date"] = "Mon, 02 Feb 2026 09:00:00 +0000"
    message.set_content(body)
    message.add_attachment(chance.randbytes(3000), maintype="application", subtype="pdf", filename=attachment)
    path.write_bytes(bytes(message))


def handbook(path, special):
    parts = []
    for chapter in range(40):
        title, fact = special.get(chapter, (f"The {chance.choice(WORDS)} {chance.choice(NOUNS)}", ""))
        paragraphs = "".join(f"<p>{text(6)}</p>" for _ in range(5))
        parts.append(f"<h1>{title}</h1><p>{fact}</p>{paragraphs}")
    path.write_text(f"<html><head><meta charset=utf-8><title>Handbook</title></head><body>{''.join(parts)}</body></html>")


def short_files(at):
    document = Document()
    document.add_heading("Minutes of the board", 1)
    document.add_paragraph(text(6))
    document.add_heading("Decisions", 2)
    for _ in range(4):
        document.add_paragraph(sentence(), style="List Bullet")
    table = document.add_table(rows=1, cols=3)
    for cell, name in zip(table.rows[0].cells, ["Item", "Owner", "Due"]):
        cell.text = name
    for n in range(5):
        for cell, value in zip(table.add_row().cells, [chance.choice(NOUNS), "Ada", f"2026-03-{n + 10}"]):
            cell.text = value
    document.save(at / "minutes.docx")
    book = Workbook()
    book.active.title = "Prices"
    for row in [["Item", "Price", "Unit"], *([noun, n * 1.5 + 2, "piece"] for n, noun in enumerate(NOUNS[:30]))]:
        book.active.append(row)
    book.save(at / "prices.xlsx")
    deck = Presentation()
    for title in ["Harvest 2026", "Costs", "Next year"]:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, "\n".join(sentence() for _ in range(4))
    deck.save(at / "board.pptx")
    manual(at / "leaflet.pdf", pages=1)
    (at / "notes.md").write_text(f"# Notes\n\n{text(5)}\n\n## To do\n\n- {sentence()}\n- {sentence()}\n\n{text(4)}\n")
    (at / "page.html").write_text(f"<h1>Frost</h1><p>{text(5)}</p><ul><li>{sentence()}<li>{sentence()}</ul><p>{text(4)}</p>")
    (at / "log.txt").write_text("\n".join(f"2026-02-0{n % 9 + 1} {sentence()}" for n in range(25)) + "\n")
    (at / "items.csv").write_text("item,count\n" + "".join(f"{noun},{n}\n" for n, noun in enumerate(NOUNS)))
    (at / "one_line.txt").write_text("The key is under the third stone.\n")


office, sales, law, code, support = (folder(name) for name in ["office", "sales", "contracts", "code", "support"])
manual(support / "printer_manual.pdf")
log = [f"2026-01-{n // 1000 + 1:02d} pump {chance.randint(1, 40)} {chance.choice(VERBS)} valve {chance.randint(1, 400)}: ok"
       for n in range(30_000)]
log[21_977] = "2026-01-22 pump 17 stopped: error E-4471, seal temperature 131"
log[8_222] = "2026-01-09 pump 33 stopped: error E-1208, no pressure"
(support / "pumps.log").write_text("\n".join(log) + "\n")
sheets(sales / "yields.xlsx")
orders(sales / "orders.csv")
contract(law / "supply_2026.docx", "Supply contract", {
    "14.7": "The supplier is liable for slight negligence up to 180,000 EUR for each event.",
    "9.3": "Notice of termination is given in writing, 75 days before the end of a quarter."})
contract(law / "lease_hall.docx", "Lease of the hall", {
    "11.5": "The tenant repaints the loading ramp in the colour RAL 6018 before moving out."})
contract(law / "carriage.docx", "Contract of carriage", {})
slides(office / "strategy.pptx")
handbook(office / "handbook.html", {
    12: ("Parental leave", "Parental leave is paid for 23 weeks, and the form is HR-77."),
    31: ("Company bicycles", "A company bicycle costs 19.40 EUR a month.")})
for n in range(120):
    mail(office / f"mail_{n:03d}.eml", f"About the {chance.choice(WORDS)} {chance.choice(NOUNS)}", text(8), f"file-{n}.pdf")
mail(office / "mail_077.eml", "Frost insurance for 2026", text(8) + " The policy is attached.", "policy-2291.pdf")
mail(office / "mail_031.eml", "Crane inspection", text(8) + " The certificate is attached.", "crane-K5-certificate.pdf")
(office / "公告.txt").write_text("".join(f"第{n}条 果园的{'水土风雨'[n % 4]}管理由第{n % 7 + 1}组负责，每月检查一次。\n"
                                       for n in range(3000)) +
                               "附则 霜冻保险的免赔额为每公顷一千二百元。\n冷库钥匙由李梅保管，编号七十九。\n", encoding="utf-8")
short_files(folder("short"))
