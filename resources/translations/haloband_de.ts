<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
    <context>
        <name>Actions</name>
        <message>
            <source>Add documents</source>
            <translation>Dokumente hinzufügen</translation>
        </message>
        <message>
            <source>Answer again</source>
            <translation>Neu antworten</translation>
        </message>
        <message>
            <source>Chats</source>
            <translation>Chats</translation>
        </message>
        <message>
            <source>Check this computer</source>
            <translation>Diesen Rechner prüfen</translation>
        </message>
        <message>
            <source>Close the window</source>
            <translation>Fenster schließen</translation>
        </message>
        <message>
            <source>Copy the last answer</source>
            <translation>Letzte Antwort kopieren</translation>
        </message>
        <message>
            <source>Export this chat</source>
            <translation>Diesen Chat exportieren</translation>
        </message>
        <message>
            <source>Find in this chat</source>
            <translation>In diesem Chat suchen</translation>
        </message>
        <message>
            <source>Go to the newest message</source>
            <translation>Zur neuesten Nachricht</translation>
        </message>
        <message>
            <source>Help</source>
            <translation>Hilfe</translation>
        </message>
        <message>
            <source>Import chats</source>
            <translation>Chats importieren</translation>
        </message>
        <message>
            <source>Keyboard shortcuts</source>
            <translation>Tastenkürzel</translation>
        </message>
        <message>
            <source>Larger text</source>
            <translation>Größerer Text</translation>
        </message>
        <message>
            <source>Messages</source>
            <translation>Nachrichten</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>Modelle</translation>
        </message>
        <message>
            <source>New chat</source>
            <translation>Neuer Chat</translation>
        </message>
        <message>
            <source>Normal text size</source>
            <translation>Normale Textgröße</translation>
        </message>
        <message>
            <source>Quit</source>
            <translation>Beenden</translation>
        </message>
        <message>
            <source>Rename this chat</source>
            <translation>Diesen Chat umbenennen</translation>
        </message>
        <message>
            <source>Search chats</source>
            <translation>Chats durchsuchen</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>Einstellungen</translation>
        </message>
        <message>
            <source>Show or hide the chats</source>
            <translation>Chats ein- oder ausblenden</translation>
        </message>
        <message>
            <source>Show or hide the live panel</source>
            <translation>Live-Bereich ein- oder ausblenden</translation>
        </message>
        <message>
            <source>Smaller text</source>
            <translation>Kleinerer Text</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>Stopp</translation>
        </message>
        <message>
            <source>View</source>
            <translation>Ansicht</translation>
        </message>
        <message>
            <source>Window</source>
            <translation>Fenster</translation>
        </message>
        <message>
            <source>Write a question</source>
            <translation>Frage schreiben</translation>
        </message>
    </context>
    <context>
        <name>AnswerSaver</name>
        <message>
            <source>{reason} The answer is not saved yet; it stays in this window and saving is tried again.</source>
            <translation>{reason} Die Antwort ist noch nicht gespeichert; sie bleibt in diesem Fenster, und das Speichern wird erneut versucht.</translation>
        </message>
    </context>
    <context>
        <name>Asking</name>
        <message>
            <source>Remove {name}: it could not be read.</source>
            <translation>Entfernen Sie {name}: Das Dokument konnte nicht gelesen werden.</translation>
        </message>
        <message>
            <source>{name} is still being read.</source>
            <translation>{name} wird noch gelesen.</translation>
        </message>
        <message>
            <source>{reason} No new answer was begun.</source>
            <translation>{reason} Es wurde keine neue Antwort begonnen.</translation>
        </message>
        <message>
            <source>{reason} The question was not sent; it is still here.</source>
            <translation>{reason} Die Frage wurde nicht gesendet; sie steht noch hier.</translation>
        </message>
    </context>
    <context>
        <name>Away</name>
        <message>
            <source>Haloband</source>
            <translation>Haloband</translation>
        </message>
        <message>
            <source>The answer failed.</source>
            <translation>Die Antwort ist fehlgeschlagen.</translation>
        </message>
        <message>
            <source>The answer is ready.</source>
            <translation>Die Antwort ist fertig.</translation>
        </message>
    </context>
    <context>
        <name>Banner</name>
        <message>
            <source>Dismiss</source>
            <translation>Ausblenden</translation>
        </message>
    </context>
    <context>
        <name>BenchmarkPanel</name>
        <message>
            <source>9,133 tokens, two cuts</source>
            <translation>9.133 Tokens, zwei Schnitte</translation>
        </message>
        <message>
            <source>A file…</source>
            <translation>Eine Datei …</translation>
        </message>
        <message>
            <source>A model is being loaded. Start when it is ready.</source>
            <translation>Ein Modell wird geladen. Starten Sie, wenn es bereit ist.</translation>
        </message>
        <message>
            <source>Against</source>
            <translation>Gegen</translation>
        </message>
        <message>
            <source>An answer is being written. A benchmark beside it would measure neither; start when it has ended.</source>
            <translation>Gerade wird eine Antwort geschrieben. Ein Benchmark daneben würde keines von beiden messen; starten Sie, wenn sie fertig ist.</translation>
        </message>
        <message>
            <source>Another benchmark is running.</source>
            <translation>Ein anderer Benchmark läuft.</translation>
        </message>
        <message>
            <source>Benchmark ended</source>
            <translation>Benchmark beendet</translation>
        </message>
        <message>
            <source>Benchmark plan</source>
            <translation>Benchmark-Plan</translation>
        </message>
        <message>
            <source>Benchmark progress</source>
            <translation>Fortschritt des Benchmarks</translation>
        </message>
        <message>
            <source>Benchmark results</source>
            <translation>Ergebnisse des Benchmarks</translation>
        </message>
        <message>
            <source>Benchmark running</source>
            <translation>Benchmark läuft</translation>
        </message>
        <message>
            <source>Cold here means a new session of the loaded model; haloband bench loads it anew before each cold run.</source>
            <translation>Kalt heißt hier: eine neue Sitzung des geladenen Modells; haloband bench lädt es vor jedem kalten Lauf neu.</translation>
        </message>
        <message>
            <source>Compare with</source>
            <translation>Vergleichen mit</translation>
        </message>
        <message>
            <source>Compare with an earlier run</source>
            <translation>Mit einem früheren Lauf vergleichen</translation>
        </message>
        <message>
            <source>Copied as Markdown.</source>
            <translation>Als Markdown kopiert.</translation>
        </message>
        <message>
            <source>Copy as Markdown</source>
            <translation>Als Markdown kopieren</translation>
        </message>
        <message>
            <source>Decode speed against tokens in the session</source>
            <translation>Decode-Geschwindigkeit über Tokens in der Sitzung</translation>
        </message>
        <message>
            <source>Decode tok/s</source>
            <translation>Decode Tok/s</translation>
        </message>
        <message>
            <source>No model is loaded. Choose one on the Models page first.</source>
            <translation>Kein Modell ist geladen. Wählen Sie zuerst eines auf der Seite „Modelle“.</translation>
        </message>
        <message>
            <source>Not saved: {reason}</source>
            <translation>Nicht gespeichert: {reason}</translation>
        </message>
        <message>
            <source>Nothing</source>
            <translation>Nichts</translation>
        </message>
        <message>
            <source>One prompt of 9,133 tokens and 128 generated, cut as 8,192 + 941 and read in one step; one cold run and two warm ones of each. The table of Luce-Org/lucebox PR #684.</source>
            <translation>Ein Prompt von 9.133 Tokens und 128 erzeugte, geschnitten in 8.192 + 941 und in einem Schritt gelesen; je ein kalter und zwei warme Läufe. Die Tabelle aus Luce-Org/lucebox PR #684.</translation>
        </message>
        <message>
            <source>Prefill speed against tokens in the session</source>
            <translation>Prefill-Geschwindigkeit über Tokens in der Sitzung</translation>
        </message>
        <message>
            <source>Prefill tok/s against tokens in the session</source>
            <translation>Prefill Tok/s über Tokens in der Sitzung</translation>
        </message>
        <message>
            <source>Prompts of 512 and 2,048 tokens and an answer of 64; five runs each.</source>
            <translation>Prompts von 512 und 2.048 Tokens und eine Antwort von 64; je fünf Läufe.</translation>
        </message>
        <message>
            <source>Prompts of 512 and 2,048 tokens, an answer of 128, and 2,048 tokens at a depth of 8,192; five runs each.</source>
            <translation>Prompts von 512 und 2.048 Tokens, eine Antwort von 128 und 2.048 Tokens in einer Tiefe von 8.192; je fünf Läufe.</translation>
        </message>
        <message>
            <source>Qualification…</source>
            <translation>Qualifizierung …</translation>
        </message>
        <message>
            <source>Quick</source>
            <translation>Schnell</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>Läufe</translation>
        </message>
        <message>
            <source>Save benchmark</source>
            <translation>Benchmark speichern</translation>
        </message>
        <message>
            <source>Saved as {name}.</source>
            <translation>Gespeichert als {name}.</translation>
        </message>
        <message>
            <source>Save…</source>
            <translation>Speichern …</translation>
        </message>
        <message>
            <source>Speed says nothing about answers.</source>
            <translation>Geschwindigkeit sagt nichts über Antworten.</translation>
        </message>
        <message>
            <source>Standard</source>
            <translation>Standard</translation>
        </message>
        <message>
            <source>Start</source>
            <translation>Start</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>Stopp</translation>
        </message>
        <message>
            <source>Stopped before the end; the rows above are good.</source>
            <translation>Vor dem Ende gestoppt; die Zeilen oben gelten.</translation>
        </message>
        <message>
            <source>Sweep over depth</source>
            <translation>Verlauf über die Tiefe</translation>
        </message>
        <message>
            <source>Test</source>
            <translation>Test</translation>
        </message>
        <message>
            <source>The machine was not quiet: {reasons}.</source>
            <translation>Der Rechner war nicht ruhig: {reasons}.</translation>
        </message>
        <message>
            <source>The run was not kept: {reason}. It can still be saved.</source>
            <translation>Der Lauf wurde nicht behalten: {reason}. Er kann noch gespeichert werden.</translation>
        </message>
        <message>
            <source>These two runs have no test in common.</source>
            <translation>Diese beiden Läufe haben keinen Test gemeinsam.</translation>
        </message>
        <message>
            <source>Waiting for the engine</source>
            <translation>Warten auf die Engine</translation>
        </message>
        <message>
            <source>Walks one long text in steps of 2,048 tokens, timing only the newest ones, with 64 tokens of answer at each depth.</source>
            <translation>Geht einen langen Text in Schritten von 2.048 Tokens durch, misst nur die neuesten, mit 64 Tokens Antwort in jeder Tiefe.</translation>
        </message>
        <message>
            <source>answering</source>
            <translation>antwortet</translation>
        </message>
        <message>
            <source>filling the session</source>
            <translation>füllt die Sitzung</translation>
        </message>
        <message>
            <source>noise unknown</source>
            <translation>Rauschen unbekannt</translation>
        </message>
        <message>
            <source>outside noise</source>
            <translation>außerhalb des Rauschens</translation>
        </message>
        <message>
            <source>peak GPU memory {size}</source>
            <translation>GPU-Speicher höchstens {size}</translation>
        </message>
        <message>
            <source>peak memory {size}</source>
            <translation>Speicher höchstens {size}</translation>
        </message>
        <message>
            <source>prompt + {tokens}</source>
            <translation>Prompt + {tokens}</translation>
        </message>
        <message>
            <source>reading</source>
            <translation>liest</translation>
        </message>
        <message>
            <source>s</source>
            <translation>s</translation>
        </message>
        <message>
            <source>tok/s</source>
            <translation>Tok/s</translation>
        </message>
        <message>
            <source>warm-up</source>
            <translation>Aufwärmen</translation>
        </message>
        <message>
            <source>within noise</source>
            <translation>im Rauschen</translation>
        </message>
        <message>
            <source>{label}, run {run} of {runs}, {phase}, row {row} of {rows}</source>
            <translation>{label}, Lauf {run} von {runs}, {phase}, Zeile {row} von {rows}</translation>
        </message>
        <message>
            <source>{ratio}, outside the noise</source>
            <translation>{ratio}, außerhalb des Rauschens</translation>
        </message>
        <message>
            <source>{ratio}, within the noise</source>
            <translation>{ratio}, im Rauschen</translation>
        </message>
        <message>
            <source>{ratio}; a single run does not tell the noise</source>
            <translation>{ratio}; ein einzelner Lauf verrät das Rauschen nicht</translation>
        </message>
        <message>
            <source>{size} of masks never allocated</source>
            <translation>{size} an Masken nie angelegt</translation>
        </message>
        <message>
            <source>{speed} tok/s</source>
            <translation>{speed} Tok/s</translation>
        </message>
        <message>
            <source>{text}, {time} left</source>
            <translation>{text}, noch {time}</translation>
        </message>
        <message>
            <source>{value} s</source>
            <translation>{value} s</translation>
        </message>
    </context>
    <context>
        <name>ChatDelegate</name>
        <message>
            <source>Title of the chat</source>
            <translation>Titel des Chats</translation>
        </message>
    </context>
    <context>
        <name>ChatPage</name>
        <message>
            <source>Add documents</source>
            <translation>Dokumente hinzufügen</translation>
        </message>
        <message>
            <source>Document</source>
            <translation>Dokument</translation>
        </message>
        <message>
            <source>Send the whole chat again</source>
            <translation>Wieder den ganzen Chat senden</translation>
        </message>
        <message numerus="yes">
            <source>The first %Ln message(s) of this chat are no longer sent to the model.</source>
            <translation>
                <numerusform>Die erste Nachricht dieses Chats (%Ln) wird nicht mehr an das Modell gesendet.</numerusform>
                <numerusform>Die ersten %Ln Nachrichten dieses Chats werden nicht mehr an das Modell gesendet.</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>ChatService</name>
        <message numerus="yes">
            <source>%n answer(s) were interrupted when the program ended; their text was kept.</source>
            <translation>
                <numerusform>Eine Antwort wurde beim Programmende unterbrochen; ihr Text blieb erhalten.</numerusform>
                <numerusform>%n Antworten wurden beim Programmende unterbrochen; ihr Text blieb erhalten.</numerusform>
            </translation>
        </message>
        <message>
            <source>New chat</source>
            <translation>Neuer Chat</translation>
        </message>
        <message>
            <source>The message was deleted.</source>
            <translation>Die Nachricht wurde gelöscht.</translation>
        </message>
        <message>
            <source>{title} (branch)</source>
            <translation>{title} (Zweig)</translation>
        </message>
        <message>
            <source>“{title}” was deleted.</source>
            <translation>„{title}“ wurde gelöscht.</translation>
        </message>
    </context>
    <context>
        <name>ChatSettings</name>
        <message>
            <source> tokens</source>
            <translation> Tokens</translation>
        </message>
        <message>
            <source>Fills the fields below</source>
            <translation>Füllt die Felder unten</translation>
        </message>
        <message>
            <source>Longest answer</source>
            <translation>Längste Antwort</translation>
        </message>
        <message>
            <source>Min p</source>
            <translation>Min p</translation>
        </message>
        <message>
            <source>Name of the preset</source>
            <translation>Name der Vorlage</translation>
        </message>
        <message>
            <source>None</source>
            <translation>Keine</translation>
        </message>
        <message>
            <source>Own value: {name}</source>
            <translation>Eigener Wert: {name}</translation>
        </message>
        <message>
            <source>Preset</source>
            <translation>Vorlage</translation>
        </message>
        <message>
            <source>Save as preset</source>
            <translation>Als Vorlage speichern</translation>
        </message>
        <message>
            <source>Save as preset …</source>
            <translation>Als Vorlage speichern …</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>Startwert</translation>
        </message>
        <message>
            <source>Settings of this chat</source>
            <translation>Einstellungen dieses Chats</translation>
        </message>
        <message>
            <source>System prompt</source>
            <translation>System-Prompt</translation>
        </message>
        <message>
            <source>Temperature</source>
            <translation>Temperatur</translation>
        </message>
        <message>
            <source>The same seed gives the same answer</source>
            <translation>Gleicher Startwert, gleiche Antwort</translation>
        </message>
        <message>
            <source>Think first</source>
            <translation>Zuerst nachdenken</translation>
        </message>
        <message>
            <source>Tick what this chat sets for itself; the rest follows Settings.</source>
            <translation>Haken Sie an, was dieser Chat selbst festlegt; der Rest folgt den Einstellungen.</translation>
        </message>
        <message>
            <source>Top k</source>
            <translation>Top k</translation>
        </message>
        <message>
            <source>Top p</source>
            <translation>Top p</translation>
        </message>
    </context>
    <context>
        <name>Composer</name>
        <message>
            <source>Add documents</source>
            <translation>Dokumente hinzufügen</translation>
        </message>
        <message>
            <source>Already read</source>
            <translation>Schon gelesen</translation>
        </message>
        <message>
            <source>Ask again</source>
            <translation>Erneut fragen</translation>
        </message>
        <message>
            <source>Ask in a new chat</source>
            <translation>In einem neuen Chat fragen</translation>
        </message>
        <message>
            <source>Ask something, or paste or drop a document</source>
            <translation>Etwas fragen, oder ein Dokument einfügen oder ablegen</translation>
        </message>
        <message>
            <source>Chat so far</source>
            <translation>Bisheriger Chat</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>Kontext</translation>
        </message>
        <message>
            <source>Context size</source>
            <translation>Kontextgröße</translation>
        </message>
        <message>
            <source>Document {name}, {details}</source>
            <translation>Dokument {name}, {details}</translation>
        </message>
        <message>
            <source>Documents</source>
            <translation>Dokumente</translation>
        </message>
        <message>
            <source>Editing an earlier question. The old one stays reachable.</source>
            <translation>Sie ändern eine frühere Frage. Die alte bleibt erreichbar.</translation>
        </message>
        <message>
            <source>Insert as text</source>
            <translation>Als Text einfügen</translation>
        </message>
        <message>
            <source>Keep only {tokens} tokens for the answer</source>
            <translation>Nur {tokens} Tokens für die Antwort freihalten</translation>
        </message>
        <message>
            <source>Kept for the answer</source>
            <translation>Für die Antwort freigehalten</translation>
        </message>
        <message numerus="yes">
            <source>Leave out the oldest %Ln turn(s)</source>
            <translation>
                <numerusform>Die älteste Runde weglassen</numerusform>
                <numerusform>Die ältesten %Ln Runden weglassen</numerusform>
            </translation>
        </message>
        <message>
            <source>Look inside</source>
            <translation>Hineinsehen</translation>
        </message>
        <message>
            <source>Question</source>
            <translation>Frage</translation>
        </message>
        <message>
            <source>Reading …</source>
            <translation>Wird gelesen …</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>Entfernen</translation>
        </message>
        <message>
            <source>Remove the documents</source>
            <translation>Dokumente entfernen</translation>
        </message>
        <message>
            <source>Send</source>
            <translation>Senden</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>Stopp</translation>
        </message>
        <message>
            <source>Stop (Esc)</source>
            <translation>Stopp (Esc)</translation>
        </message>
        <message>
            <source>This question</source>
            <translation>Diese Frage</translation>
        </message>
        <message>
            <source>Too long to edit here; it is sent whole</source>
            <translation>Zu lang, um hier bearbeitet zu werden; der ganze Text wird gesendet</translation>
        </message>
        <message>
            <source>Use a context of {tokens} tokens</source>
            <translation>Einen Kontext von {tokens} Tokens verwenden</translation>
        </message>
        <message>
            <source>not sent</source>
            <translation>nicht gesendet</translation>
        </message>
        <message>
            <source>{over} tokens too many</source>
            <translation>{over} Tokens zu viel</translation>
        </message>
        <message>
            <source>{used} of {context} tokens</source>
            <translation>{used} von {context} Tokens</translation>
        </message>
        <message>
            <source>– tokens</source>
            <translation>– Tokens</translation>
        </message>
    </context>
    <context>
        <name>DoctorPage</name>
        <message>
            <source>Access to the GPU</source>
            <translation>Zugriff auf die GPU</translation>
        </message>
        <message>
            <source>Check again</source>
            <translation>Erneut prüfen</translation>
        </message>
        <message>
            <source>Checking …</source>
            <translation>Prüfung läuft …</translation>
        </message>
        <message>
            <source>Copy report</source>
            <translation>Bericht kopieren</translation>
        </message>
        <message>
            <source>GPU</source>
            <translation>GPU</translation>
        </message>
        <message>
            <source>In order</source>
            <translation>In Ordnung</translation>
        </message>
        <message>
            <source>Kernel and driver</source>
            <translation>Kernel und Treiber</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>Speicher</translation>
        </message>
        <message>
            <source>Not checked yet</source>
            <translation>Noch nicht geprüft</translation>
        </message>
        <message>
            <source>Note</source>
            <translation>Hinweis</translation>
        </message>
        <message>
            <source>Problem</source>
            <translation>Problem</translation>
        </message>
        <message>
            <source>ROCm and Python packages</source>
            <translation>ROCm und Python-Pakete</translation>
        </message>
        <message>
            <source>Reading the model file and starting the engine once …</source>
            <translation>Die Modelldatei wird gelesen und die Engine einmal gestartet …</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>Geschwindigkeit</translation>
        </message>
        <message>
            <source>State of this machine</source>
            <translation>Zustand dieses Rechners</translation>
        </message>
        <message>
            <source>The check itself failed: {error}</source>
            <translation>Die Prüfung selbst ist fehlgeschlagen: {error}</translation>
        </message>
        <message>
            <source>Wanted: {what}</source>
            <translation>Erwartet: {what}</translation>
        </message>
        <message>
            <source>Warning</source>
            <translation>Warnung</translation>
        </message>
    </context>
    <context>
        <name>Document</name>
        <message>
            <source>The first {first} of {count} characters; all of them are sent</source>
            <translation>Die ersten {first} von {count} Zeichen; gesendet werden alle</translation>
        </message>
        <message>
            <source>{count} characters</source>
            <translation>{count} Zeichen</translation>
        </message>
    </context>
    <context>
        <name>Documents</name>
        <message>
            <source>Pasted text {number}</source>
            <translation>Eingefügter Text {number}</translation>
        </message>
        <message>
            <source>{name} cannot be read: {reason}.</source>
            <translation>{name} kann nicht gelesen werden: {reason}.</translation>
        </message>
        <message>
            <source>{name} has more than {limit} characters.</source>
            <translation>{name} hat mehr als {limit} Zeichen.</translation>
        </message>
        <message>
            <source>{name} has no text in it.</source>
            <translation>{name} enthält keinen Text.</translation>
        </message>
        <message>
            <source>{name} has no text, only pictures; it would need text recognition.</source>
            <translation>{name} enthält keinen Text, nur Bilder; dafür wäre eine Texterkennung nötig.</translation>
        </message>
        <message>
            <source>{name} has {count} characters; at most {limit} can be read.</source>
            <translation>{name} hat {count} Zeichen; höchstens {limit} können gelesen werden.</translation>
        </message>
        <message>
            <source>{name} has {count} pages; at most {limit} can be read.</source>
            <translation>{name} hat {count} Seiten; höchstens {limit} können gelesen werden.</translation>
        </message>
        <message>
            <source>{name} is a folder; add the files in it.</source>
            <translation>{name} ist ein Ordner; fügen Sie die Dateien darin hinzu.</translation>
        </message>
        <message>
            <source>{name} is damaged or not a PDF that can be read.</source>
            <translation>{name} ist beschädigt oder kein lesbares PDF.</translation>
        </message>
        <message>
            <source>{name} is damaged or not a Word file that can be read.</source>
            <translation>{name} ist beschädigt oder keine lesbare Word-Datei.</translation>
        </message>
        <message>
            <source>{name} is empty.</source>
            <translation>{name} ist leer.</translation>
        </message>
        <message>
            <source>{name} is in an old Office format; save it as .docx or text first.</source>
            <translation>{name} hat ein altes Office-Format; speichern Sie es zuerst als .docx oder Text.</translation>
        </message>
        <message>
            <source>{name} is larger than {limit} MiB.</source>
            <translation>{name} ist größer als {limit} MiB.</translation>
        </message>
        <message>
            <source>{name} is not a file.</source>
            <translation>{name} ist keine Datei.</translation>
        </message>
        <message>
            <source>{name} is not a text, PDF or Word (.docx) file.</source>
            <translation>{name} ist keine Text-, PDF- oder Word-Datei (.docx).</translation>
        </message>
        <message>
            <source>{name} is protected by a password.</source>
            <translation>{name} ist durch ein Passwort geschützt.</translation>
        </message>
        <message>
            <source>{name} says it is {encoding} but is not, at byte {place}.</source>
            <translation>{name} gibt sich als {encoding} aus, ist es aber bei Byte {place} nicht.</translation>
        </message>
        <message>
            <source>{name} would unpack to more than {limit} MiB.</source>
            <translation>{name} würde entpackt größer als {limit} MiB.</translation>
        </message>
    </context>
    <context>
        <name>EmptyState</name>
        <message>
            <source>Explain how rain forms, in three steps.</source>
            <translation>Erkläre in drei Schritten, wie Regen entsteht.</translation>
        </message>
        <message>
            <source>No model is loaded. Choose one under Models.</source>
            <translation>Kein Modell ist geladen. Wählen Sie eines unter „Modelle“.</translation>
        </message>
        <message>
            <source>Open a document and ask about it</source>
            <translation>Ein Dokument öffnen und danach fragen</translation>
        </message>
        <message>
            <source>The model is being loaded. You can write already.</source>
            <translation>Das Modell wird geladen. Sie können schon schreiben.</translation>
        </message>
        <message>
            <source>What would you like to know?</source>
            <translation>Was möchten Sie wissen?</translation>
        </message>
        <message>
            <source>Write a short poem about the sea.</source>
            <translation>Schreibe ein kurzes Gedicht über das Meer.</translation>
        </message>
        <message>
            <source>{name} answers on this computer. It reads up to {context}.</source>
            <translation>{name} antwortet auf diesem Rechner. Es liest bis zu {context}.</translation>
        </message>
        <message>
            <source>{problem} Choose another model under Models.</source>
            <translation>{problem} Wählen Sie ein anderes Modell unter „Modelle“.</translation>
        </message>
    </context>
    <context>
        <name>Exchange</name>
        <message>
            <source>Answer</source>
            <translation>Antwort</translation>
        </message>
        <message>
            <source>Chat</source>
            <translation>Chat</translation>
        </message>
        <message>
            <source>Chats (*.json)</source>
            <translation>Chats (*.json)</translation>
        </message>
        <message>
            <source>Document: {name}</source>
            <translation>Dokument: {name}</translation>
        </message>
        <message>
            <source>Export chat</source>
            <translation>Chat exportieren</translation>
        </message>
        <message>
            <source>Import chats</source>
            <translation>Chats importieren</translation>
        </message>
        <message>
            <source>JSON (*.json)</source>
            <translation>JSON (*.json)</translation>
        </message>
        <message>
            <source>Markdown (*.md)</source>
            <translation>Markdown (*.md)</translation>
        </message>
        <message>
            <source>System prompt</source>
            <translation>System-Prompt</translation>
        </message>
        <message>
            <source>Thinking</source>
            <translation>Gedanken</translation>
        </message>
        <message>
            <source>You</source>
            <translation>Sie</translation>
        </message>
        <message>
            <source>a text is longer than {limit} characters</source>
            <translation>ein Text ist länger als {limit} Zeichen</translation>
        </message>
        <message>
            <source>content should be a text or a list of parts</source>
            <translation>content sollte ein Text oder eine Liste von Teilen sein</translation>
        </message>
        <message>
            <source>failed</source>
            <translation>fehlgeschlagen</translation>
        </message>
        <message>
            <source>interrupted</source>
            <translation>unterbrochen</translation>
        </message>
        <message>
            <source>it has version {version}; this Haloband reads version {own}</source>
            <translation>sie hat Version {version}; dieses Haloband liest Version {own}</translation>
        </message>
        <message>
            <source>its format is not {name}</source>
            <translation>ihr Format ist nicht {name}</translation>
        </message>
        <message>
            <source>its id {id} is used twice</source>
            <translation>ihre Kennung {id} kommt zweimal vor</translation>
        </message>
        <message>
            <source>its parent {id} does not come before it</source>
            <translation>ihr Vorgänger {id} steht nicht davor</translation>
        </message>
        <message>
            <source>only text can be imported, not {kind!r}</source>
            <translation>nur Text kann importiert werden, nicht {kind!r}</translation>
        </message>
        <message>
            <source>still being answered</source>
            <translation>wird noch beantwortet</translation>
        </message>
        <message>
            <source>stopped</source>
            <translation>gestoppt</translation>
        </message>
        <message>
            <source>the role {role!r} is not known</source>
            <translation>die Rolle {role!r} ist unbekannt</translation>
        </message>
        <message>
            <source>this is neither a Haloband export nor a list of messages</source>
            <translation>dies ist weder ein Haloband-Export noch eine Liste von Nachrichten</translation>
        </message>
        <message>
            <source>this should be an object</source>
            <translation>dies sollte ein Objekt sein</translation>
        </message>
        <message>
            <source>{key} has the unknown value {found!r}</source>
            <translation>{key} hat den unbekannten Wert {found!r}</translation>
        </message>
        <message>
            <source>{key} is missing</source>
            <translation>{key} fehlt</translation>
        </message>
        <message>
            <source>{key} is out of range</source>
            <translation>{key} liegt außerhalb des Bereichs</translation>
        </message>
        <message>
            <source>{key} should be {kind}</source>
            <translation>{key} sollte {kind} sein</translation>
        </message>
        <message>
            <source>{name} cannot be read: {reason}.</source>
            <translation>{name} kann nicht gelesen werden: {reason}.</translation>
        </message>
        <message>
            <source>{name} has more than {chats} chats or {messages} messages.</source>
            <translation>{name} hat mehr als {chats} Chats oder {messages} Nachrichten.</translation>
        </message>
        <message>
            <source>{name} has no messages in it.</source>
            <translation>{name} enthält keine Nachrichten.</translation>
        </message>
        <message>
            <source>{name} is larger than {limit} MiB.</source>
            <translation>{name} ist größer als {limit} MiB.</translation>
        </message>
        <message>
            <source>{name} is nested too deeply.</source>
            <translation>{name} ist zu tief verschachtelt.</translation>
        </message>
        <message>
            <source>{name} is not JSON: byte {place} is not UTF-8.</source>
            <translation>{name} ist kein JSON: Byte {place} ist kein UTF-8.</translation>
        </message>
        <message>
            <source>{name} is not JSON: {reason}.</source>
            <translation>{name} ist kein JSON: {reason}.</translation>
        </message>
        <message>
            <source>{name}, line {number} is not JSON: {reason}.</source>
            <translation>{name}, Zeile {number} ist kein JSON: {reason}.</translation>
        </message>
        <message>
            <source>{path} was not written: {reason}.</source>
            <translation>{path} wurde nicht geschrieben: {reason}.</translation>
        </message>
    </context>
    <context>
        <name>Find</name>
        <message>
            <source>Close</source>
            <translation>Schließen</translation>
        </message>
        <message>
            <source>Find in this chat</source>
            <translation>In diesem Chat suchen</translation>
        </message>
        <message>
            <source>Next match</source>
            <translation>Nächster Treffer</translation>
        </message>
        <message>
            <source>No match</source>
            <translation>Kein Treffer</translation>
        </message>
        <message>
            <source>Previous match</source>
            <translation>Vorheriger Treffer</translation>
        </message>
        <message numerus="yes">
            <source>in %Ln message(s)</source>
            <translation>
                <numerusform>in %Ln Nachricht</numerusform>
                <numerusform>in %Ln Nachrichten</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>Formats</name>
        <message numerus="yes">
            <source>%Ln token(s)</source>
            <translation>
                <numerusform>%Ln Token</numerusform>
                <numerusform>%Ln Tokens</numerusform>
            </translation>
        </message>
        <message>
            <source>{hours} h {minutes} min</source>
            <translation>{hours} h {minutes} min</translation>
        </message>
        <message>
            <source>{minutes} min {seconds} s</source>
            <translation>{minutes} min {seconds} s</translation>
        </message>
        <message>
            <source>{percent} %</source>
            <translation>{percent} %</translation>
        </message>
        <message>
            <source>{seconds} s</source>
            <translation>{seconds} s</translation>
        </message>
        <message>
            <source>{speed} tok/s</source>
            <translation>{speed} Tok/s</translation>
        </message>
        <message>
            <source>– tokens</source>
            <translation>– Tokens</translation>
        </message>
    </context>
    <context>
        <name>GenerationState</name>
        <message>
            <source>Answering</source>
            <translation>Antwortet</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>Fehlgeschlagen</translation>
        </message>
        <message>
            <source>Finished</source>
            <translation>Fertig</translation>
        </message>
        <message>
            <source>Loading the model</source>
            <translation>Das Modell wird geladen</translation>
        </message>
        <message>
            <source>Reading prompt</source>
            <translation>Prompt wird gelesen</translation>
        </message>
        <message>
            <source>Reading the prompt</source>
            <translation>Der Prompt wird gelesen</translation>
        </message>
        <message>
            <source>Ready</source>
            <translation>Bereit</translation>
        </message>
        <message>
            <source>Stopping</source>
            <translation>Wird gestoppt</translation>
        </message>
        <message>
            <source>Waiting for another answer</source>
            <translation>Wartet auf eine andere Antwort</translation>
        </message>
    </context>
    <context>
        <name>Header</name>
        <message>
            <source>Back to the chat</source>
            <translation>Zurück zum Chat</translation>
        </message>
        <message>
            <source>More for this chat</source>
            <translation>Mehr zu diesem Chat</translation>
        </message>
        <message>
            <source>New chat</source>
            <translation>Neuer Chat</translation>
        </message>
        <message>
            <source>Settings of this chat</source>
            <translation>Einstellungen dieses Chats</translation>
        </message>
        <message>
            <source>Show or hide the chats</source>
            <translation>Chats ein- oder ausblenden</translation>
        </message>
        <message>
            <source>Show or hide the live panel</source>
            <translation>Live-Bereich ein- oder ausblenden</translation>
        </message>
    </context>
    <context>
        <name>Help</name>
        <message>
            <source>Ask about a document</source>
            <translation>Nach einem Dokument fragen</translation>
        </message>
        <message>
            <source>Help</source>
            <translation>Hilfe</translation>
        </message>
        <message>
            <source>If something goes wrong</source>
            <translation>Wenn etwas schiefgeht</translation>
        </message>
        <message>
            <source>In {folder}. They never leave this computer.</source>
            <translation>In {folder}. Sie verlassen diesen Rechner nie.</translation>
        </message>
        <message>
            <source>Open the log folder</source>
            <translation>Protokollordner öffnen</translation>
        </message>
        <message>
            <source>Paste a long text, drop a file on the question field, or use the paper clip. The whole text reaches the model; what does not fit is said before anything is sent.</source>
            <translation>Fügen Sie einen langen Text ein, legen Sie eine Datei auf dem Fragefeld ab, oder nutzen Sie die Büroklammer. Der ganze Text erreicht das Modell; was nicht passt, wird vor dem Senden gesagt.</translation>
        </message>
        <message>
            <source>The log is {file}. It holds no chat text, and nothing is sent by itself.</source>
            <translation>Das Protokoll ist {file}. Es enthält keinen Chat-Text, und nichts wird von selbst gesendet.</translation>
        </message>
        <message>
            <source>The panel at the right shows how fast the prompt is read and the answer written, and what every layer keeps in memory. The Benchmark tab measures it.</source>
            <translation>Der Bereich rechts zeigt, wie schnell der Prompt gelesen und die Antwort geschrieben wird und was jede Schicht im Speicher hält. Der Reiter „Benchmark“ misst es.</translation>
        </message>
        <message>
            <source>Watch the engine</source>
            <translation>Der Engine zusehen</translation>
        </message>
        <message>
            <source>Where your chats are</source>
            <translation>Wo Ihre Chats liegen</translation>
        </message>
    </context>
    <context>
        <name>LivePanel</name>
        <message numerus="yes">
            <source>%Ln band(s)</source>
            <translation>
                <numerusform>%Ln Band</numerusform>
                <numerusform>%Ln Bändern</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln step(s)</source>
            <translation>
                <numerusform>%Ln Schritt</numerusform>
                <numerusform>%Ln Schritten</numerusform>
            </translation>
        </message>
        <message>
            <source>1 in {ratio}</source>
            <translation>1 von {ratio}</translation>
        </message>
        <message>
            <source>All</source>
            <translation>Alle</translation>
        </message>
        <message>
            <source>Answer</source>
            <translation>Antwort</translation>
        </message>
        <message>
            <source>Answering</source>
            <translation>Antwortet</translation>
        </message>
        <message>
            <source>Ask something, and its speeds and memory appear here.</source>
            <translation>Fragen Sie etwas, dann erscheinen hier Geschwindigkeit und Speicher.</translation>
        </message>
        <message>
            <source>At</source>
            <translation>Bei</translation>
        </message>
        <message>
            <source>Benchmark finished</source>
            <translation>Benchmark fertig</translation>
        </message>
        <message>
            <source>Benchmark running</source>
            <translation>Benchmark läuft</translation>
        </message>
        <message>
            <source>Decode</source>
            <translation>Decode</translation>
        </message>
        <message>
            <source>Decode speed over time</source>
            <translation>Decode-Geschwindigkeit im Verlauf</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>Fehlgeschlagen</translation>
        </message>
        <message>
            <source>Held</source>
            <translation>Gehalten</translation>
        </message>
        <message>
            <source>Keeps</source>
            <translation>Behält</translation>
        </message>
        <message>
            <source>Last answer</source>
            <translation>Letzte Antwort</translation>
        </message>
        <message>
            <source>Layer</source>
            <translation>Schicht</translation>
        </message>
        <message>
            <source>Layer {layer}, {kind}: held {held}, plain attention {plain}, mask never allocated {mask}</source>
            <translation>Schicht {layer}, {kind}: gehalten {held}, einfache Attention {plain}, nie angelegte Maske {mask}</translation>
        </message>
        <message>
            <source>Mask</source>
            <translation>Maske</translation>
        </message>
        <message>
            <source>Memory available</source>
            <translation>Freier Speicher</translation>
        </message>
        <message>
            <source>Memory of each layer</source>
            <translation>Speicher jeder Schicht</translation>
        </message>
        <message>
            <source>Memory of each layer, as bars</source>
            <translation>Speicher jeder Schicht, als Balken</translation>
        </message>
        <message>
            <source>Memory per layer</source>
            <translation>Speicher je Schicht</translation>
        </message>
        <message>
            <source>Memory per layer appears with the first prompt.</source>
            <translation>Der Speicher je Schicht erscheint mit dem ersten Prompt.</translation>
        </message>
        <message>
            <source>Nothing is running</source>
            <translation>Nichts läuft</translation>
        </message>
        <message>
            <source>Plain</source>
            <translation>Einfach</translation>
        </message>
        <message>
            <source>Prefill</source>
            <translation>Prefill</translation>
        </message>
        <message>
            <source>Prefill speed over time</source>
            <translation>Prefill-Geschwindigkeit im Verlauf</translation>
        </message>
        <message>
            <source>Prompt</source>
            <translation>Prompt</translation>
        </message>
        <message>
            <source>Prompt read</source>
            <translation>Prompt gelesen</translation>
        </message>
        <message>
            <source>Prompt time left</source>
            <translation>Restzeit des Prompts</translation>
        </message>
        <message>
            <source>Reading the prompt</source>
            <translation>Der Prompt wird gelesen</translation>
        </message>
        <message>
            <source>Reused from cache</source>
            <translation>Aus dem Cache</translation>
        </message>
        <message>
            <source>Show tables instead of charts</source>
            <translation>Tabellen statt Diagrammen zeigen</translation>
        </message>
        <message>
            <source>Speeds over time</source>
            <translation>Geschwindigkeiten im Verlauf</translation>
        </message>
        <message>
            <source>Speeds over time appear here.</source>
            <translation>Hier erscheinen die Geschwindigkeiten im Verlauf.</translation>
        </message>
        <message>
            <source>Starting</source>
            <translation>Beginnt</translation>
        </message>
        <message>
            <source>Stopped</source>
            <translation>Gestoppt</translation>
        </message>
        <message>
            <source>This computer</source>
            <translation>Dieser Rechner</translation>
        </message>
        <message>
            <source>This program</source>
            <translation>Dieses Programm</translation>
        </message>
        <message>
            <source>Time to first token</source>
            <translation>Zeit bis zum ersten Token</translation>
        </message>
        <message>
            <source>held now</source>
            <translation>jetzt gehalten</translation>
        </message>
        <message>
            <source>masks never allocated</source>
            <translation>nie angelegte Masken</translation>
        </message>
        <message>
            <source>not measured yet</source>
            <translation>noch nicht gemessen</translation>
        </message>
        <message>
            <source>plain attention would hold</source>
            <translation>einfache Attention hielte</translation>
        </message>
        <message>
            <source>step {step} of {steps}, {tokens} in {bands}, layer {layer} of {layers}</source>
            <translation>Schritt {step} von {steps}, {tokens} in {bands}, Schicht {layer} von {layers}</translation>
        </message>
        <message>
            <source>whole run</source>
            <translation>ganzer Lauf</translation>
        </message>
        <message>
            <source>whole run {speed}</source>
            <translation>ganzer Lauf {speed}</translation>
        </message>
        <message>
            <source>window</source>
            <translation>Fenster</translation>
        </message>
        <message>
            <source>{free} of {total}</source>
            <translation>{free} von {total}</translation>
        </message>
        <message>
            <source>{saved} saved at {tokens}: F16 keys and values of every head for these tokens, minus what is held, plus the F32 masks of the largest step, which are never allocated.</source>
            <translation>{saved} gespart bei {tokens}: F16-Schlüssel und -Werte aller Köpfe für diese Tokens, minus das Gehaltene, plus die F32-Masken des größten Schritts, die nie angelegt werden.</translation>
        </message>
        <message>
            <source>{tokens} read in {steps}</source>
            <translation>{tokens} gelesen in {steps}</translation>
        </message>
        <message>
            <source>{used} of {total}</source>
            <translation>{used} von {total}</translation>
        </message>
    </context>
    <context>
        <name>MainWindow</name>
        <message numerus="yes">
            <source>%Ln chat(s) imported.</source>
            <translation>
                <numerusform>%Ln Chat importiert.</numerusform>
                <numerusform>%Ln Chats importiert.</numerusform>
            </translation>
        </message>
        <message>
            <source>Models</source>
            <translation>Modelle</translation>
        </message>
        <message>
            <source>Qualification</source>
            <translation>Qualifizierung</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>Einstellungen</translation>
        </message>
        <message>
            <source>The chat was exported to {file}.</source>
            <translation>Der Chat wurde nach {file} exportiert.</translation>
        </message>
        <message>
            <source>This computer</source>
            <translation>Dieser Rechner</translation>
        </message>
    </context>
    <context>
        <name>Messages</name>
        <message>
            <source>Reading the prompt</source>
            <translation>Der Prompt wird gelesen</translation>
        </message>
        <message>
            <source>Reading the prompt · starting</source>
            <translation>Der Prompt wird gelesen · beginnt</translation>
        </message>
        <message>
            <source>The answer could not be finished. What had arrived was kept.</source>
            <translation>Die Antwort konnte nicht beendet werden. Was angekommen war, wurde behalten.</translation>
        </message>
        <message>
            <source>The context is full. Start a new chat, or use a larger context in Settings.</source>
            <translation>Der Kontext ist voll. Beginnen Sie einen neuen Chat, oder wählen Sie in den Einstellungen einen größeren Kontext.</translation>
        </message>
        <message>
            <source>The program ended while this was being written. What had arrived was kept.</source>
            <translation>Das Programm endete, während dies geschrieben wurde. Was angekommen war, wurde behalten.</translation>
        </message>
        <message numerus="yes">
            <source>Waiting for %Ln other job(s)</source>
            <translation>
                <numerusform>Wartet auf %Ln andere Aufgabe</numerusform>
                <numerusform>Wartet auf %Ln andere Aufgaben</numerusform>
            </translation>
        </message>
        <message>
            <source>context full</source>
            <translation>Kontext voll</translation>
        </message>
        <message>
            <source>finished</source>
            <translation>fertig</translation>
        </message>
        <message>
            <source>first token after {time}</source>
            <translation>erstes Token nach {time}</translation>
        </message>
        <message>
            <source>length limit reached</source>
            <translation>Längengrenze erreicht</translation>
        </message>
        <message>
            <source>stopped</source>
            <translation>gestoppt</translation>
        </message>
    </context>
    <context>
        <name>ModelKeeper</name>
        <message>
            <source>{reason} The embedded model is used instead.</source>
            <translation>{reason} Stattdessen wird das eingebaute Modell benutzt.</translation>
        </message>
    </context>
    <context>
        <name>ModelsPage</name>
        <message>
            <source>Add a model</source>
            <translation>Modell hinzufügen</translation>
        </message>
        <message>
            <source>Add file …</source>
            <translation>Datei hinzufügen …</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>Abbrechen</translation>
        </message>
        <message>
            <source>Check this computer</source>
            <translation>Diesen Rechner prüfen</translation>
        </message>
        <message>
            <source>Comes with Haloband</source>
            <translation>Gehört zu Haloband</translation>
        </message>
        <message>
            <source>Does not fit: needs {needed}, {free} are free. Close other programs or choose a smaller context in Settings.</source>
            <translation>Passt nicht: braucht {needed}, frei sind {free}. Schließen Sie andere Programme, oder wählen Sie in den Einstellungen einen kleineren Kontext.</translation>
        </message>
        <message>
            <source>Fits: needs {needed}, {free} are free</source>
            <translation>Passt: braucht {needed}, frei sind {free}</translation>
        </message>
        <message>
            <source>In use</source>
            <translation>In Gebrauch</translation>
        </message>
        <message>
            <source>Load</source>
            <translation>Laden</translation>
        </message>
        <message>
            <source>Model read</source>
            <translation>Modell gelesen</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>Modelle</translation>
        </message>
        <message>
            <source>Models (*.gguf *.safetensors)</source>
            <translation>Modelle (*.gguf *.safetensors)</translation>
        </message>
        <message>
            <source>Pick the model that answers. The one in use stays until the next one is ready.</source>
            <translation>Wählen Sie das Modell, das antwortet. Das jetzige bleibt, bis das nächste bereit ist.</translation>
        </message>
        <message>
            <source>Remove from the library (the file stays)</source>
            <translation>Aus der Bibliothek entfernen (die Datei bleibt)</translation>
        </message>
        <message>
            <source>Stop watching this folder</source>
            <translation>Diesen Ordner nicht mehr beobachten</translation>
        </message>
        <message>
            <source>Watch a folder for models</source>
            <translation>Einen Ordner nach Modellen beobachten</translation>
        </message>
        <message>
            <source>Watch folder …</source>
            <translation>Ordner beobachten …</translation>
        </message>
        <message>
            <source>Watched folder, not there now: {folder}</source>
            <translation>Beobachteter Ordner, zurzeit nicht da: {folder}</translation>
        </message>
        <message>
            <source>Watched folder: {folder}</source>
            <translation>Beobachteter Ordner: {folder}</translation>
        </message>
        <message>
            <source>context up to {tokens}</source>
            <translation>Kontext bis {tokens}</translation>
        </message>
        <message>
            <source>{count} parameters</source>
            <translation>{count} Parameter</translation>
        </message>
    </context>
    <context>
        <name>QualifyPage</name>
        <message>
            <source>2,048 against {cap} tokens a step</source>
            <translation>2.048 gegen {cap} Tokens je Schritt</translation>
        </message>
        <message>
            <source>A benchmark is running. Start when it has ended.</source>
            <translation>Ein Benchmark läuft. Starten Sie, wenn er beendet ist.</translation>
        </message>
        <message>
            <source>A model is being loaded. Start when it is ready.</source>
            <translation>Ein Modell wird geladen. Starten Sie, wenn es bereit ist.</translation>
        </message>
        <message>
            <source>Also sparse against exact (slow)</source>
            <translation>Auch dünn gegen exakt (langsam)</translation>
        </message>
        <message>
            <source>An answer is being written. Start when it has ended.</source>
            <translation>Gerade wird eine Antwort geschrieben. Starten Sie, wenn sie fertig ist.</translation>
        </message>
        <message>
            <source>Code</source>
            <translation>Code</translation>
        </message>
        <message>
            <source>Compared</source>
            <translation>Verglichen</translation>
        </message>
        <message>
            <source>Copied as Markdown.</source>
            <translation>Als Markdown kopiert.</translation>
        </message>
        <message>
            <source>Copy as Markdown</source>
            <translation>Als Markdown kopieren</translation>
        </message>
        <message>
            <source>Cross KL</source>
            <translation>Kreuz-KL</translation>
        </message>
        <message>
            <source>Cuts</source>
            <translation>Schnitte</translation>
        </message>
        <message>
            <source>Domain</source>
            <translation>Bereich</translation>
        </message>
        <message>
            <source>Earlier reports</source>
            <translation>Frühere Berichte</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>Nicht bestanden</translation>
        </message>
        <message>
            <source>Greedy</source>
            <translation>Greedy</translation>
        </message>
        <message>
            <source>KL of each row</source>
            <translation>KL jeder Zeile</translation>
        </message>
        <message>
            <source>Keys</source>
            <translation>Schlüssel</translation>
        </message>
        <message>
            <source>Languages, structured</source>
            <translation>Sprachen, strukturiert</translation>
        </message>
        <message>
            <source>Limit</source>
            <translation>Grenze</translation>
        </message>
        <message>
            <source>Noise</source>
            <translation>Rauschen</translation>
        </message>
        <message>
            <source>None yet</source>
            <translation>Noch keine</translation>
        </message>
        <message>
            <source>Not finished</source>
            <translation>Nicht beendet</translation>
        </message>
        <message>
            <source>Passed</source>
            <translation>Bestanden</translation>
        </message>
        <message>
            <source>Process {number} of {total}: {name}</source>
            <translation>Prozess {number} von {total}: {name}</translation>
        </message>
        <message>
            <source>Prose</source>
            <translation>Prosa</translation>
        </message>
        <message>
            <source>Qualification</source>
            <translation>Qualifizierung</translation>
        </message>
        <message>
            <source>Qualification ended: {verdict}</source>
            <translation>Qualifizierung beendet: {verdict}</translation>
        </message>
        <message>
            <source>Qualification progress</source>
            <translation>Fortschritt der Qualifizierung</translation>
        </message>
        <message>
            <source>Qualification running</source>
            <translation>Qualifizierung läuft</translation>
        </message>
        <message>
            <source>Reads four frozen texts in four fresh processes, cut in two ways, and compares every answer with limits that were fixed before. A failed report is kept like any other.</source>
            <translation>Liest vier feste Texte in vier frischen Prozessen, auf zwei Arten geschnitten, und vergleicht jede Antwort mit vorher festgelegten Grenzen. Ein nicht bestandener Bericht wird behalten wie jeder andere.</translation>
        </message>
        <message>
            <source>Reports</source>
            <translation>Berichte</translation>
        </message>
        <message>
            <source>Results by domain</source>
            <translation>Ergebnisse nach Bereich</translation>
        </message>
        <message>
            <source>Save report</source>
            <translation>Bericht speichern</translation>
        </message>
        <message>
            <source>Saved as {name}.</source>
            <translation>Gespeichert als {name}.</translation>
        </message>
        <message>
            <source>Save…</source>
            <translation>Speichern …</translation>
        </message>
        <message>
            <source>Sparse against exact</source>
            <translation>Dünn gegen exakt</translation>
        </message>
        <message>
            <source>Start</source>
            <translation>Start</translation>
        </message>
        <message>
            <source>Starting</source>
            <translation>Beginnt</translation>
        </message>
        <message>
            <source>Step caps to compare</source>
            <translation>Zu vergleichende Schrittgrößen</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>Stopp</translation>
        </message>
        <message>
            <source>Stopped. Start goes on after the processes that had finished.</source>
            <translation>Gestoppt. „Start“ macht nach den beendeten Prozessen weiter.</translation>
        </message>
        <message>
            <source>The greedy answers are equal.</source>
            <translation>Die Greedy-Antworten sind gleich.</translation>
        </message>
        <message>
            <source>The greedy answers first part at token {place} ({left} against {right}), top-2 gap {gap}.</source>
            <translation>Die Greedy-Antworten trennen sich zuerst bei Token {place} ({left} gegen {right}), Abstand der besten zwei {gap}.</translation>
        </message>
        <message>
            <source>Tools</source>
            <translation>Werkzeuge</translation>
        </message>
        <message>
            <source>Top-1</source>
            <translation>Top-1</translation>
        </message>
        <message>
            <source>Verdict</source>
            <translation>Urteil</translation>
        </message>
        <message>
            <source>does not hold</source>
            <translation>gilt nicht</translation>
        </message>
        <message>
            <source>holds</source>
            <translation>gilt</translation>
        </message>
        <message>
            <source>missed</source>
            <translation>verfehlt</translation>
        </message>
        <message>
            <source>passed</source>
            <translation>bestanden</translation>
        </message>
        <message>
            <source>{domain} ({axis}): KL of each row, the limit dashed</source>
            <translation>{domain} ({axis}): KL jeder Zeile, die Grenze gestrichelt</translation>
        </message>
        <message>
            <source>{held} of {all} checks hold. Series {series}; limits {limits}.</source>
            <translation>{held} von {all} Prüfungen gelten. Reihe {series}; Grenzen {limits}.</translation>
        </message>
        <message>
            <source>{share} %</source>
            <translation>{share} %</translation>
        </message>
    </context>
    <context>
        <name>Sender</name>
        <message>
            <source>No new answer was begun: with its chat and documents the question has {prompt} tokens, and {reserved} are kept for the answer, but the context holds {context}.</source>
            <translation>Es wurde keine neue Antwort begonnen: Mit Chat und Dokumenten hat die Frage {prompt} Tokens, und {reserved} sind für die Antwort reserviert, aber der Kontext fasst {context}.</translation>
        </message>
        <message>
            <source>This question was not sent: with its chat and documents it has {prompt} tokens, and {reserved} are kept for the answer, but the context holds {context}.</source>
            <translation>Diese Frage wurde nicht gesendet: Mit Chat und Dokumenten hat sie {prompt} Tokens, {reserved} sind für die Antwort freigehalten, aber der Kontext fasst {context}.</translation>
        </message>
    </context>
    <context>
        <name>SettingsPage</name>
        <message>
            <source> characters</source>
            <translation> Zeichen</translation>
        </message>
        <message>
            <source> seconds</source>
            <translation> Sekunden</translation>
        </message>
        <message>
            <source> tokens</source>
            <translation> Tokens</translation>
        </message>
        <message>
            <source>0 always takes the likeliest word</source>
            <translation>0 nimmt immer das wahrscheinlichste Wort</translation>
        </message>
        <message>
            <source>1 is the system's own size</source>
            <translation>1 ist die Größe des Systems</translation>
        </message>
        <message>
            <source>A paste is long from</source>
            <translation>Ein Einfügen ist lang ab</translation>
        </message>
        <message>
            <source>An answer is long from</source>
            <translation>Eine Antwort ist lang ab</translation>
        </message>
        <message>
            <source>Answers</source>
            <translation>Antworten</translation>
        </message>
        <message>
            <source>Appearance</source>
            <translation>Aussehen</translation>
        </message>
        <message>
            <source>At most this many words; 0 takes all</source>
            <translation>Höchstens so viele Wörter; 0 nimmt alle</translation>
        </message>
        <message>
            <source>Attention</source>
            <translation>Attention</translation>
        </message>
        <message>
            <source>Automatic</source>
            <translation>Automatisch</translation>
        </message>
        <message>
            <source>Banded and sparse (fast)</source>
            <translation>In Bändern und dünn (schnell)</translation>
        </message>
        <message>
            <source>Chats kept in memory</source>
            <translation>Chats im Speicher</translation>
        </message>
        <message>
            <source>Computes in</source>
            <translation>Rechnet in</translation>
        </message>
        <message>
            <source>Context size</source>
            <translation>Kontextgröße</translation>
        </message>
        <message>
            <source>Ctrl+Enter</source>
            <translation>Strg+Eingabe</translation>
        </message>
        <message>
            <source>Dark</source>
            <translation>Dunkel</translation>
        </message>
        <message>
            <source>Delete the preset {name}</source>
            <translation>Vorlage {name} löschen</translation>
        </message>
        <message>
            <source>Dense</source>
            <translation>Dicht</translation>
        </message>
        <message>
            <source>Engine</source>
            <translation>Engine</translation>
        </message>
        <message>
            <source>Enter</source>
            <translation>Eingabe</translation>
        </message>
        <message>
            <source>Exact (for comparison)</source>
            <translation>Exakt (zum Vergleich)</translation>
        </message>
        <message>
            <source>Follow the system</source>
            <translation>Wie das System</translation>
        </message>
        <message>
            <source>For chats that set nothing of their own</source>
            <translation>Für Chats, die nichts Eigenes festlegen</translation>
        </message>
        <message>
            <source>General</source>
            <translation>Allgemein</translation>
        </message>
        <message>
            <source>Going back to one of them reads nothing again</source>
            <translation>Beim Zurückkehren wird nichts neu gelesen</translation>
        </message>
        <message>
            <source>Graphics processor</source>
            <translation>Grafikprozessor</translation>
        </message>
        <message>
            <source>Holds from the next answer on</source>
            <translation>Gilt ab der nächsten Antwort</translation>
        </message>
        <message>
            <source>Holds from the next model that is loaded</source>
            <translation>Gilt ab dem nächsten Modell, das geladen wird</translation>
        </message>
        <message>
            <source>Holds from the next start on</source>
            <translation>Gilt ab dem nächsten Start</translation>
        </message>
        <message>
            <source>How keys and values are kept; automatic is what the model was trained with</source>
            <translation>Wie Schlüssel und Werte gehalten werden; automatisch ist, womit das Modell trainiert wurde</translation>
        </message>
        <message>
            <source>Keep the computer awake while answering</source>
            <translation>Den Rechner beim Antworten wach halten</translation>
        </message>
        <message>
            <source>Keep thinking open</source>
            <translation>Gedanken offen lassen</translation>
        </message>
        <message>
            <source>Language</source>
            <translation>Sprache</translation>
        </message>
        <message>
            <source>Larger contexts take more memory</source>
            <translation>Größere Kontexte brauchen mehr Speicher</translation>
        </message>
        <message>
            <source>Less motion</source>
            <translation>Weniger Bewegung</translation>
        </message>
        <message>
            <source>Light</source>
            <translation>Hell</translation>
        </message>
        <message>
            <source>Load the last model at start</source>
            <translation>Beim Start das letzte Modell laden</translation>
        </message>
        <message>
            <source>Loading a model</source>
            <translation>Laden eines Modells</translation>
        </message>
        <message>
            <source>Long pastes become documents</source>
            <translation>Langes Einfügen wird zum Dokument</translation>
        </message>
        <message>
            <source>Longest answer</source>
            <translation>Längste Antwort</translation>
        </message>
        <message>
            <source>Made in the settings of a chat, and chosen there</source>
            <translation>Werden in den Einstellungen eines Chats angelegt und gewählt</translation>
        </message>
        <message>
            <source>Min p</source>
            <translation>Min p</translation>
        </message>
        <message>
            <source>None (for comparison)</source>
            <translation>Keine (zum Vergleich)</translation>
        </message>
        <message>
            <source>None yet</source>
            <translation>Noch keine</translation>
        </message>
        <message>
            <source>Nothing turns or pulses while the model works</source>
            <translation>Nichts dreht sich oder pulsiert, während das Modell arbeitet</translation>
        </message>
        <message>
            <source>Notify when a long answer ends</source>
            <translation>Benachrichtigen, wenn eine lange Antwort fertig ist</translation>
        </message>
        <message>
            <source>Only while the window is not in front</source>
            <translation>Nur solange das Fenster nicht vorn ist</translation>
        </message>
        <message>
            <source>Open the last chat at start</source>
            <translation>Beim Start den letzten Chat öffnen</translation>
        </message>
        <message>
            <source>Presets</source>
            <translation>Vorlagen</translation>
        </message>
        <message>
            <source>Processor</source>
            <translation>Prozessor</translation>
        </message>
        <message>
            <source>Rounding of the cache</source>
            <translation>Rundung des Caches</translation>
        </message>
        <message>
            <source>Runs on</source>
            <translation>Läuft auf</translation>
        </message>
        <message>
            <source>Send with</source>
            <translation>Senden mit</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>Einstellungen</translation>
        </message>
        <message>
            <source>Shown as a chip with size and token count; the whole text is sent either way</source>
            <translation>Gezeigt als Kärtchen mit Größe und Tokenzahl; gesendet wird immer der ganze Text</translation>
        </message>
        <message>
            <source>System prompt</source>
            <translation>System-Prompt</translation>
        </message>
        <message>
            <source>Temperature</source>
            <translation>Temperatur</translation>
        </message>
        <message>
            <source>Text size</source>
            <translation>Textgröße</translation>
        </message>
        <message>
            <source>The model writes its thoughts before the answer</source>
            <translation>Das Modell schreibt seine Gedanken vor der Antwort</translation>
        </message>
        <message>
            <source>Theme</source>
            <translation>Farbschema</translation>
        </message>
        <message>
            <source>Think first</source>
            <translation>Zuerst nachdenken</translation>
        </message>
        <message>
            <source>Thoughts stay unfolded after they end</source>
            <translation>Gedanken bleiben nach ihrem Ende aufgeklappt</translation>
        </message>
        <message>
            <source>Top k</source>
            <translation>Top k</translation>
        </message>
        <message>
            <source>Top p</source>
            <translation>Top p</translation>
        </message>
        <message>
            <source>What every chat is told first; may be empty</source>
            <translation>Was jedem Chat zuerst gesagt wird; darf leer sein</translation>
        </message>
        <message>
            <source>Words at least this likely, relative to the best</source>
            <translation>Wörter, die mindestens so wahrscheinlich sind, verglichen mit dem besten</translation>
        </message>
        <message>
            <source>Words that together reach this share</source>
            <translation>Wörter, die zusammen diesen Anteil erreichen</translation>
        </message>
        <message>
            <source>Writing</source>
            <translation>Schreiben</translation>
        </message>
    </context>
    <context>
        <name>Shortcuts</name>
        <message>
            <source>Ctrl+Enter</source>
            <translation>Strg+Eingabe</translation>
        </message>
        <message>
            <source>Edit the last question (empty field)</source>
            <translation>Letzte Frage ändern (leeres Feld)</translation>
        </message>
        <message>
            <source>Enter</source>
            <translation>Eingabe</translation>
        </message>
        <message>
            <source>In the question field</source>
            <translation>Im Fragefeld</translation>
        </message>
        <message>
            <source>Keyboard shortcuts</source>
            <translation>Tastenkürzel</translation>
        </message>
        <message>
            <source>New line</source>
            <translation>Neue Zeile</translation>
        </message>
        <message>
            <source>Send</source>
            <translation>Senden</translation>
        </message>
        <message>
            <source>Shift+Enter</source>
            <translation>Umschalt+Eingabe</translation>
        </message>
        <message>
            <source>Up</source>
            <translation>Pfeil auf</translation>
        </message>
    </context>
    <context>
        <name>SidePanel</name>
        <message>
            <source>Benchmark</source>
            <translation>Benchmark</translation>
        </message>
        <message>
            <source>Live</source>
            <translation>Live</translation>
        </message>
        <message>
            <source>Panel</source>
            <translation>Bereich</translation>
        </message>
    </context>
    <context>
        <name>Sidebar</name>
        <message>
            <source>Chats</source>
            <translation>Chats</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>Löschen</translation>
        </message>
        <message>
            <source>Export …</source>
            <translation>Exportieren …</translation>
        </message>
        <message>
            <source>Import chats …</source>
            <translation>Chats importieren …</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>Modelle</translation>
        </message>
        <message>
            <source>More</source>
            <translation>Mehr</translation>
        </message>
        <message>
            <source>New chat</source>
            <translation>Neuer Chat</translation>
        </message>
        <message>
            <source>No chats yet. Write a question to start the first one.</source>
            <translation>Noch keine Chats. Schreiben Sie eine Frage, um den ersten zu beginnen.</translation>
        </message>
        <message>
            <source>Nothing found. Try fewer or other words.</source>
            <translation>Nichts gefunden. Versuchen Sie weniger oder andere Wörter.</translation>
        </message>
        <message>
            <source>Pin</source>
            <translation>Anheften</translation>
        </message>
        <message>
            <source>Rename</source>
            <translation>Umbenennen</translation>
        </message>
        <message>
            <source>Search chats</source>
            <translation>Chats durchsuchen</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>Einstellungen</translation>
        </message>
        <message>
            <source>Unpin</source>
            <translation>Lösen</translation>
        </message>
        <message>
            <source>pinned</source>
            <translation>angeheftet</translation>
        </message>
    </context>
    <context>
        <name>Start</name>
        <message>
            <source>Haloband ended unexpectedly last time. Your chats were kept. A report is in {file}.</source>
            <translation>Haloband wurde beim letzten Mal unerwartet beendet. Ihre Chats blieben erhalten. Ein Bericht liegt in {file}.</translation>
        </message>
    </context>
    <context>
        <name>StatusLine</name>
        <message>
            <source>Cancel</source>
            <translation>Abbrechen</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>Modell wählen</translation>
        </message>
        <message>
            <source>Context {used} / {size}</source>
            <translation>Kontext {used} / {size}</translation>
        </message>
        <message>
            <source>Loading {name}</source>
            <translation>{name} wird geladen</translation>
        </message>
        <message>
            <source>Memory {size}</source>
            <translation>Speicher {size}</translation>
        </message>
        <message>
            <source>Model read</source>
            <translation>Modell gelesen</translation>
        </message>
        <message>
            <source>Model: {model}</source>
            <translation>Modell: {model}</translation>
        </message>
        <message>
            <source>No model</source>
            <translation>Kein Modell</translation>
        </message>
        <message>
            <source>Status</source>
            <translation>Status</translation>
        </message>
        <message>
            <source>The model could not be loaded</source>
            <translation>Das Modell konnte nicht geladen werden</translation>
        </message>
        <message>
            <source>the embedded model</source>
            <translation>das eingebaute Modell</translation>
        </message>
    </context>
    <context>
        <name>Toast</name>
        <message>
            <source>Undo</source>
            <translation>Rückgängig</translation>
        </message>
    </context>
    <context>
        <name>Transcript</name>
        <message>
            <source>Answer again</source>
            <translation>Neu antworten</translation>
        </message>
        <message>
            <source>Answer {position} of {total}</source>
            <translation>Antwort {position} von {total}</translation>
        </message>
        <message>
            <source>Closed</source>
            <translation>Zugeklappt</translation>
        </message>
        <message>
            <source>Code</source>
            <translation>Code</translation>
        </message>
        <message>
            <source>Code in {language}</source>
            <translation>Code in {language}</translation>
        </message>
        <message>
            <source>Continue in a new chat from here</source>
            <translation>Ab hier in einem neuen Chat weitermachen</translation>
        </message>
        <message>
            <source>Conversation</source>
            <translation>Gespräch</translation>
        </message>
        <message>
            <source>Copy</source>
            <translation>Kopieren</translation>
        </message>
        <message>
            <source>Copy code</source>
            <translation>Code kopieren</translation>
        </message>
        <message>
            <source>Copy link address</source>
            <translation>Adresse des Links kopieren</translation>
        </message>
        <message>
            <source>Copy message</source>
            <translation>Nachricht kopieren</translation>
        </message>
        <message>
            <source>Delete from here on</source>
            <translation>Ab hier löschen</translation>
        </message>
        <message>
            <source>Edit and ask again</source>
            <translation>Ändern und erneut fragen</translation>
        </message>
        <message>
            <source>Go to the newest message</source>
            <translation>Zur neuesten Nachricht</translation>
        </message>
        <message>
            <source>Image: {description}</source>
            <translation>Bild: {description}</translation>
        </message>
        <message>
            <source>Newest</source>
            <translation>Neueste</translation>
        </message>
        <message>
            <source>Next version</source>
            <translation>Nächste Fassung</translation>
        </message>
        <message>
            <source>Opened</source>
            <translation>Aufgeklappt</translation>
        </message>
        <message>
            <source>Previous version</source>
            <translation>Vorige Fassung</translation>
        </message>
        <message>
            <source>Prompt read</source>
            <translation>Prompt gelesen</translation>
        </message>
        <message>
            <source>Question {position} of {total}</source>
            <translation>Frage {position} von {total}</translation>
        </message>
        <message>
            <source>Scroll the code sideways</source>
            <translation>Code seitwärts rollen</translation>
        </message>
        <message>
            <source>Select all</source>
            <translation>Alles auswählen</translation>
        </message>
        <message>
            <source>Show all {count} characters</source>
            <translation>Alle {count} Zeichen zeigen</translation>
        </message>
        <message>
            <source>Show document {name}</source>
            <translation>Dokument {name} zeigen</translation>
        </message>
        <message>
            <source>Show less</source>
            <translation>Weniger zeigen</translation>
        </message>
        <message>
            <source>Starting</source>
            <translation>Beginnt</translation>
        </message>
        <message>
            <source>Thinking · {tokens}</source>
            <translation>Denkt nach · {tokens}</translation>
        </message>
        <message>
            <source>Thought for {time} · {tokens}</source>
            <translation>Dachte {time} nach · {tokens}</translation>
        </message>
        <message>
            <source>Thoughts · {tokens}</source>
            <translation>Gedanken · {tokens}</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>Erneut versuchen</translation>
        </message>
        <message>
            <source>Version {version} of {versions}</source>
            <translation>Fassung {version} von {versions}</translation>
        </message>
        <message>
            <source>{done} / {total} tokens</source>
            <translation>{done} / {total} Tokens</translation>
        </message>
        <message>
            <source>{time} left</source>
            <translation>noch {time}</translation>
        </message>
        <message>
            <source>{tokens} from cache</source>
            <translation>{tokens} aus dem Cache</translation>
        </message>
    </context>
</TS>
