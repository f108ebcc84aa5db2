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
            <source>backend</source>
            <translation>Ausführung</translation>
        </message>
        <message>
            <source>commit</source>
            <translation>Commit</translation>
        </message>
        <message>
            <source>context</source>
            <translation>Kontext</translation>
        </message>
        <message>
            <source>device</source>
            <translation>Gerät</translation>
        </message>
        <message>
            <source>driver</source>
            <translation>Treiber</translation>
        </message>
        <message>
            <source>filling the session</source>
            <translation>füllt die Sitzung</translation>
        </message>
        <message>
            <source>kernel</source>
            <translation>Betriebssystem-Kernel</translation>
        </message>
        <message>
            <source>kernels</source>
            <translation>Kernel der Ausführung</translation>
        </message>
        <message>
            <source>mode</source>
            <translation>Modus</translation>
        </message>
        <message>
            <source>model</source>
            <translation>Modell</translation>
        </message>
        <message>
            <source>model file</source>
            <translation>Modelldatei</translation>
        </message>
        <message>
            <source>noise unknown</source>
            <translation>Rauschen unbekannt</translation>
        </message>
        <message>
            <source>not known</source>
            <translation>nicht bekannt</translation>
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
            <source>power profile</source>
            <translation>Energieprofil</translation>
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
            <source>rows</source>
            <translation>Zeilen</translation>
        </message>
        <message>
            <source>s</source>
            <translation>s</translation>
        </message>
        <message>
            <source>text</source>
            <translation>Text</translation>
        </message>
        <message>
            <source>threads</source>
            <translation>Threads</translation>
        </message>
        <message>
            <source>tok/s</source>
            <translation>Tok/s</translation>
        </message>
        <message>
            <source>torch</source>
            <translation>torch</translation>
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
            <source>{name}: {before}, now {after}</source>
            <translation>{name}: {before}, jetzt {after}</translation>
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
            <source>Only the first {number} of {count} files were added. Add the others apart.</source>
            <translation>Nur die ersten {number} von {count} Dateien wurden hinzugefügt. Fügen Sie die anderen gesondert hinzu.</translation>
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
            <source>An earlier question takes no new documents. Send them with a new question.</source>
            <translation>Eine frühere Frage nimmt keine neuen Dokumente auf. Senden Sie sie mit einer neuen Frage.</translation>
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
        <message numerus="yes">
            <source>%Ln problem(s)</source>
            <translation>
                <numerusform>%Ln Problem</numerusform>
                <numerusform>%Ln Probleme</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln warning(s)</source>
            <translation>
                <numerusform>%Ln Warnung</numerusform>
                <numerusform>%Ln Warnungen</numerusform>
            </translation>
        </message>
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
            <source>Nothing stands in the way.</source>
            <translation>Nichts steht im Weg.</translation>
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
        <message>
            <source>{problems}, {warnings}.</source>
            <translation>{problems}, {warnings}.</translation>
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
        <name>Drafting</name>
        <message>
            <source>The lines of this document are too long to edit them here; it is sent whole.</source>
            <translation>Die Zeilen dieses Dokuments sind zu lang, um sie hier zu bearbeiten; es wird als Ganzes gesendet.</translation>
        </message>
    </context>
    <context>
        <name>EmptyState</name>
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
            <source>Why is the sky blue?</source>
            <translation>Warum ist der Himmel blau?</translation>
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
            <source>{file} is already there. Replace it?</source>
            <translation>{file} ist schon vorhanden. Ersetzen?</translation>
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
            <source>{milliseconds} ms</source>
            <translation>{milliseconds} ms</translation>
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
        <name>OwnRow</name>
        <message>
            <source>Own value: {name}</source>
            <translation>Eigener Wert: {name}</translation>
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
        <name>Sentences</name>
        <message>
            <source>0.17 or newer (LLVM 22)</source>
            <translation>0.17 oder neuer (LLVM 22)</translation>
        </message>
        <message>
            <source>2 GB/s or more for a file of 80 GB or more (an NVMe disk)</source>
            <translation>2 GB/s oder mehr für eine Datei von 80 GB oder mehr (ein NVMe-Laufwerk)</translation>
        </message>
        <message>
            <source>3.11 or newer</source>
            <translation>3.11 oder neuer</translation>
        </message>
        <message>
            <source>512 MiB, or 1 GiB at most</source>
            <translation>512 MiB, oder höchstens 1 GiB</translation>
        </message>
        <message>
            <source>6.18.4 or newer (Ubuntu's OEM kernel: 6.14.0-1018 or newer)</source>
            <translation>6.18.4 oder neuer (OEM-Kernel von Ubuntu: 6.14.0-1018 oder neuer)</translation>
        </message>
        <message>
            <source>6.8 to 6.11, or newer on Python 3.12 and later</source>
            <translation>6.8 bis 6.11, oder neuer ab Python 3.12</translation>
        </message>
        <message>
            <source>7.2.2 or newer</source>
            <translation>7.2.2 oder neuer</translation>
        </message>
        <message>
            <source>A benchmark needs at least one run, not {runs}.</source>
            <translation>Ein Benchmark braucht mindestens einen Lauf, nicht {runs}.</translation>
        </message>
        <message>
            <source>A context of {context:n} tokens is more than the model's {limit:n}.</source>
            <translation>Ein Kontext von {context:n} Tokens ist mehr als die {limit:n} des Modells.</translation>
        </message>
        <message>
            <source>A system message can only be the first message of a conversation.</source>
            <translation>Eine Systemnachricht kann nur die erste Nachricht einer Unterhaltung sein.</translation>
        </message>
        <message>
            <source>Add ttm.pages_limit={wanted} to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, run `sudo update-grub` (Fedora: `sudo grubby --update-kernel=ALL --args=ttm.pages_limit={wanted2}`), and restart.</source>
            <translation>Fügen Sie ttm.pages_limit={wanted} bei GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub ein, führen Sie `sudo update-grub` aus (Fedora: `sudo grubby --update-kernel=ALL --args=ttm.pages_limit={wanted2}`), und starten Sie neu.</translation>
        </message>
        <message>
            <source>Agreement</source>
            <translation>Übereinstimmung</translation>
        </message>
        <message>
            <source>Between processes {name} and {name2} changed: {changed}.</source>
            <translation>Zwischen den Prozessen {name} und {name2} hat sich geändert: {changed}.</translation>
        </message>
        <message>
            <source>Choose a model file that exists and that you may read.</source>
            <translation>Wählen Sie eine Modelldatei, die es gibt und die Sie lesen dürfen.</translation>
        </message>
        <message>
            <source>Choose it in the system settings, or run `powerprofilesctl set performance`.</source>
            <translation>Wählen Sie es in den Systemeinstellungen, oder führen Sie `powerprofilesctl set performance` aus.</translation>
        </message>
        <message>
            <source>Close other programs before loading a model; Haloband refuses a model that does not fit.</source>
            <translation>Schließen Sie andere Programme, bevor Sie ein Modell laden; Haloband lehnt ein Modell ab, das nicht passt.</translation>
        </message>
        <message>
            <source>Close programs, then empty it with `sudo swapoff -a &amp;&amp; sudo swapon -a`: swapped weights read at disk speed.</source>
            <translation>Schließen Sie Programme, und leeren Sie sie dann mit `sudo swapoff -a &amp;&amp; sudo swapon -a`: Ausgelagerte Gewichte lesen sich so langsam wie das Laufwerk.</translation>
        </message>
        <message>
            <source>Follow the lines above on access, ROCm and torch first; then see `rocminfo`.</source>
            <translation>Folgen Sie zuerst den Zeilen oben zu Zugriff, ROCm und torch; sehen Sie dann in `rocminfo` nach.</translation>
        </message>
        <message>
            <source>Free memory</source>
            <translation>Freier Speicher</translation>
        </message>
        <message>
            <source>GGUF model file</source>
            <translation>eine GGUF-Modelldatei</translation>
        </message>
        <message>
            <source>GPU</source>
            <translation>GPU</translation>
        </message>
        <message>
            <source>GPU compiler</source>
            <translation>GPU-Compiler</translation>
        </message>
        <message>
            <source>GPU firmware</source>
            <translation>GPU-Firmware</translation>
        </message>
        <message>
            <source>GTT limit</source>
            <translation>GTT-Grenze</translation>
        </message>
        <message>
            <source>HALOBAND_NATIVE={wanted} names none of {variants}</source>
            <translation>HALOBAND_NATIVE={wanted} nennt keine dieser Varianten: {variants}</translation>
        </message>
        <message>
            <source>HIP kernels by {identity}; dense products by the same kernels</source>
            <translation>HIP-Kernel von {identity}; dichte Produkte von denselben Kerneln</translation>
        </message>
        <message>
            <source>HIP kernels by {identity}; dense products by the torch library</source>
            <translation>HIP-Kernel von {identity}; dichte Produkte von der torch-Bibliothek</translation>
        </message>
        <message>
            <source>HSA_OVERRIDE_GFX_VERSION</source>
            <translation>HSA_OVERRIDE_GFX_VERSION</translation>
        </message>
        <message>
            <source>Haloband made a mistake ({detail:w}). The details are in the log.</source>
            <translation>Haloband hat einen Fehler gemacht ({detail:w}). Näheres steht im Protokoll.</translation>
        </message>
        <message>
            <source>In the firmware setup, set the GPU's own memory (UMA frame buffer, iGPU memory) to 512 MB: a carve-out is lost to everything else, and DS4 needs one large pool.</source>
            <translation>Stellen Sie im Firmware-Setup den eigenen Speicher der GPU (UMA frame buffer, iGPU memory) auf 512 MB: Was dort abgezweigt ist, fehlt allem anderen, und DS4 braucht einen großen Vorrat.</translation>
        </message>
        <message>
            <source>Install Haloband again: its package brings these kernels along, and no compiler is needed.</source>
            <translation>Installieren Sie Haloband noch einmal: Sein Paket bringt diese Kernel mit, und ein Compiler ist nicht nötig.</translation>
        </message>
        <message>
            <source>Install Haloband from source with AMD's torch (docs/strix-halo.md); your chats and settings stay.</source>
            <translation>Installieren Sie Haloband aus dem Quelltext mit AMDs torch (docs/strix-halo.md); Ihre Chats und Einstellungen bleiben.</translation>
        </message>
        <message>
            <source>Install ROCm 7.2.2 or newer. This compiler gets sums over a wave wrong; Haloband's kernels guard against it, other programs may not.</source>
            <translation>Installieren Sie ROCm 7.2.2 oder neuer. Dieser Compiler rechnet Summen über eine Wave falsch; die Kernel von Haloband sind davor geschützt, andere Programme vielleicht nicht.</translation>
        </message>
        <message>
            <source>Install ROCm 7.2.2 or newer: this one miscounts the registers of gfx1151 and crashes under load.</source>
            <translation>Installieren Sie ROCm 7.2.2 oder neuer: Dieses zählt die Register von gfx1151 falsch und stürzt unter Last ab.</translation>
        </message>
        <message>
            <source>Install a C++ compiler (`sudo apt install g++`) and run `make -B setup`.</source>
            <translation>Installieren Sie einen C++-Compiler (`sudo apt install g++`), und führen Sie `make -B setup` aus.</translation>
        </message>
        <message>
            <source>Install a newer kernel and restart; older ones tell ROCm too small a register file for gfx1151, and programs crash under load.</source>
            <translation>Installieren Sie einen neueren Kernel, und starten Sie neu; ältere nennen ROCm einen zu kleinen Registersatz für gfx1151, und Programme stürzen unter Last ab.</translation>
        </message>
        <message>
            <source>Install a newer kernel, and see that it is built with HSA_AMD (`grep HSA_AMD /boot/config-$(uname -r)`).</source>
            <translation>Installieren Sie einen neueren Kernel, und achten Sie darauf, dass er mit HSA_AMD gebaut ist (`grep HSA_AMD /boot/config-$(uname -r)`).</translation>
        </message>
        <message>
            <source>Install a torch that is built for ROCm {build} and run `pip install 'hip-python=={base}.*'`.</source>
            <translation>Installieren Sie ein torch, das für ROCm {build} gebaut ist, und führen Sie `pip install 'hip-python=={base}.*'` aus.</translation>
        </message>
        <message>
            <source>Install a torch that is built for ROCm {build}.</source>
            <translation>Installieren Sie ein torch, das für ROCm {build} gebaut ist.</translation>
        </message>
        <message>
            <source>Install another linux-firmware, 20260110 for example, and restart: this one hangs the GPU.</source>
            <translation>Installieren Sie eine andere linux-firmware, zum Beispiel 20260110, und starten Sie neu: Diese hängt die GPU auf.</translation>
        </message>
        <message>
            <source>Install it with `pip install 'ziglang&gt;=0.17'`: older ones get sums over a wave wrong on gfx11.</source>
            <translation>Installieren Sie es mit `pip install 'ziglang&gt;=0.17'`: Ältere rechnen auf gfx11 Summen über eine Wave falsch.</translation>
        </message>
        <message>
            <source>Install it with `pip install hip-python`, in the version of your ROCm.</source>
            <translation>Installieren Sie es mit `pip install hip-python`, in der Version Ihres ROCm.</translation>
        </message>
        <message>
            <source>Install torch from AMD's wheels for gfx1151 (docs/strix-halo.md), or run `make setup`.</source>
            <translation>Installieren Sie torch aus AMDs Paketen für gfx1151 (docs/strix-halo.md), oder führen Sie `make setup` aus.</translation>
        </message>
        <message>
            <source>Install torch from AMD's wheels for gfx1151 (docs/strix-halo.md): this one cannot use the AMD GPU.</source>
            <translation>Installieren Sie torch aus AMDs Paketen für gfx1151 (docs/strix-halo.md): Dieses kann die AMD-GPU nicht benutzen.</translation>
        </message>
        <message>
            <source>Install torch from AMD's wheels for gfx1151 (docs/strix-halo.md); they bring ROCm along. Or install your distribution's ROCm.</source>
            <translation>Installieren Sie torch aus AMDs Paketen für gfx1151 (docs/strix-halo.md); sie bringen ROCm mit. Oder installieren Sie das ROCm Ihrer Distribution.</translation>
        </message>
        <message>
            <source>Join the groups with `sudo usermod -aG {groups} {name}`, then log out and in again.</source>
            <translation>Treten Sie den Gruppen mit `sudo usermod -aG {groups} {name}` bei, und melden Sie sich ab und wieder an.</translation>
        </message>
        <message>
            <source>Keep large models on an NVMe disk inside the machine.</source>
            <translation>Legen Sie große Modelle auf ein NVMe-Laufwerk im Rechner.</translation>
        </message>
        <message>
            <source>Kernel</source>
            <translation>Kernel</translation>
        </message>
        <message>
            <source>LLVM {first_good_llvm}, in ROCm 7.2.2 or newer</source>
            <translation>LLVM {first_good_llvm}, in ROCm 7.2.2 oder neuer</translation>
        </message>
        <message>
            <source>LLVM {llvm}</source>
            <translation>LLVM {llvm}</translation>
        </message>
        <message>
            <source>LLVM {llvm} of ROCm {rocm}</source>
            <translation>LLVM {llvm} von ROCm {rocm}</translation>
        </message>
        <message>
            <source>LLVM {llvm} of ROCm {rocm}, a preview</source>
            <translation>LLVM {llvm} von ROCm {rocm}, eine Vorschau</translation>
        </message>
        <message>
            <source>LLVM {llvm}, a preview</source>
            <translation>LLVM {llvm}, eine Vorschau</translation>
        </message>
        <message>
            <source>Libraries of the window</source>
            <translation>Bibliotheken des Fensters</translation>
        </message>
        <message>
            <source>Linux {release}</source>
            <translation>Linux {release}</translation>
        </message>
        <message>
            <source>Load it with `sudo modprobe amdgpu`, and remove it from /etc/modprobe.d if it is listed there.</source>
            <translation>Laden Sie ihn mit `sudo modprobe amdgpu`, und entfernen Sie ihn aus /etc/modprobe.d, falls er dort steht.</translation>
        </message>
        <message>
            <source>Load the driver with `sudo modprobe amdgpu`. In a container, pass the device: --device=/dev/kfd --device=/dev/dri (Flatpak: --device=all).</source>
            <translation>Laden Sie den Treiber mit `sudo modprobe amdgpu`. In einem Container reichen Sie das Gerät hinein: --device=/dev/kfd --device=/dev/dri (Flatpak: --device=all).</translation>
        </message>
        <message>
            <source>Load the driver with `sudo modprobe amdgpu`; if that fails, install a newer kernel and linux-firmware.</source>
            <translation>Laden Sie den Treiber mit `sudo modprobe amdgpu`; wenn das nicht geht, installieren Sie einen neueren Kernel und linux-firmware.</translation>
        </message>
        <message>
            <source>Log out and in again: you were added to the group {group} after this session began.</source>
            <translation>Melden Sie sich ab und wieder an: Sie wurden der Gruppe {group} hinzugefügt, nachdem diese Sitzung begonnen hatte.</translation>
        </message>
        <message>
            <source>MES {version}</source>
            <translation>MES {version}</translation>
        </message>
        <message>
            <source>NVRTC cannot be loaded ({missing:w})</source>
            <translation>NVRTC kann nicht geladen werden ({missing:w})</translation>
        </message>
        <message>
            <source>No model is loaded. Choose one on the Models page, then ask again.</source>
            <translation>Kein Modell ist geladen. Wählen Sie eines auf der Seite „Modelle“, und fragen Sie dann noch einmal.</translation>
        </message>
        <message>
            <source>No model is loaded. Choose one on the Models page, then start the benchmark.</source>
            <translation>Kein Modell ist geladen. Wählen Sie eines auf der Seite „Modelle“, und starten Sie dann den Benchmark.</translation>
        </message>
        <message>
            <source>Nothing, if it works. On crashes remove the amdgpu-dkms package and restart into the kernel's own driver.</source>
            <translation>Nichts, wenn es geht. Bei Abstürzen entfernen Sie das Paket amdgpu-dkms und starten mit dem Treiber des Kernels neu.</translation>
        </message>
        <message>
            <source>On Debian and Ubuntu, run `sudo apt install libegl1 libgl1 libdbus-1-3 libfontconfig1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libwayland-cursor0`. The commands work without it, the window does not.</source>
            <translation>Führen Sie unter Debian und Ubuntu `sudo apt install libegl1 libgl1 libdbus-1-3 libfontconfig1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libwayland-cursor0` aus. Die Befehle gehen ohne sie, das Fenster nicht.</translation>
        </message>
        <message>
            <source>Plug it in: on battery the processor and GPU are held far below their speed.</source>
            <translation>Stecken Sie ihn ein: Im Akkubetrieb bleiben Prozessor und GPU weit unter ihrer Geschwindigkeit.</translation>
        </message>
        <message>
            <source>Power profile</source>
            <translation>Energieprofil</translation>
        </message>
        <message>
            <source>Power supply</source>
            <translation>Stromversorgung</translation>
        </message>
        <message>
            <source>Process {name} ended with status {status}: {words:w}</source>
            <translation>Prozess {name} endete mit dem Status {status}: {words:w}</translation>
        </message>
        <message>
            <source>Process {name} left no readable result.</source>
            <translation>Prozess {name} hinterließ kein lesbares Ergebnis.</translation>
        </message>
        <message>
            <source>Process {name} was ended by signal {status}: {words:w}</source>
            <translation>Prozess {name} wurde durch das Signal {status} beendet: {words:w}</translation>
        </message>
        <message>
            <source>Process {name} was ended by {name2}: {words:w}</source>
            <translation>Prozess {name} wurde durch {name2} beendet: {words:w}</translation>
        </message>
        <message>
            <source>Processor kernels</source>
            <translation>Prozessor-Kernel</translation>
        </message>
        <message>
            <source>PySide6</source>
            <translation>PySide6</translation>
        </message>
        <message>
            <source>Python</source>
            <translation>Python</translation>
        </message>
        <message>
            <source>Python packages</source>
            <translation>Python-Pakete</translation>
        </message>
        <message>
            <source>Reading the model</source>
            <translation>Lesen des Modells</translation>
        </message>
        <message>
            <source>Remove amdgpu.gttsize from the kernel's command line, where it overrides the limit, and have ttm.pages_limit={wanted} there instead; then restart.</source>
            <translation>Entfernen Sie amdgpu.gttsize aus der Kommandozeile des Kernels, wo es die Grenze übersteuert, und setzen Sie dort stattdessen ttm.pages_limit={wanted}; starten Sie dann neu.</translation>
        </message>
        <message>
            <source>Report this: a model that ships with Haloband must give finite numbers on every machine.</source>
            <translation>Melden Sie das: Ein Modell, das mit Haloband kommt, muss auf jedem Rechner endliche Zahlen ergeben.</translation>
        </message>
        <message>
            <source>Run `haloband doctor --self-test` to see all of it. A torch or a driver that does not fit is the usual cause.</source>
            <translation>Führen Sie `haloband doctor --self-test` aus, um alles zu sehen. Ein torch oder ein Treiber, der nicht passt, ist die übliche Ursache.</translation>
        </message>
        <message>
            <source>Run `make setup PYTHON=python3.12` with a newer Python.</source>
            <translation>Führen Sie `make setup PYTHON=python3.12` mit einem neueren Python aus.</translation>
        </message>
        <message>
            <source>Run `make setup`, or `pip install haloband`.</source>
            <translation>Führen Sie `make setup` oder `pip install haloband` aus.</translation>
        </message>
        <message>
            <source>Run `make setup`. The commands work without it, the window does not.</source>
            <translation>Führen Sie `make setup` aus. Die Befehle gehen ohne es, das Fenster nicht.</translation>
        </message>
        <message>
            <source>Run `make setup`; where a library is named, install it. The commands work without the window.</source>
            <translation>Führen Sie `make setup` aus; wo eine Bibliothek genannt ist, installieren Sie sie. Die Befehle gehen ohne das Fenster.</translation>
        </message>
        <message>
            <source>Run `pip install 'PySide6-Essentials&lt;6.12'`, or use Python 3.12: this pair aborts the window after some thousand events.</source>
            <translation>Führen Sie `pip install 'PySide6-Essentials&lt;6.12'` aus, oder benutzen Sie Python 3.12: Dieses Paar bricht das Fenster nach einigen tausend Ereignissen ab.</translation>
        </message>
        <message>
            <source>Run `pip install 'hip-python=={base}.*'`.</source>
            <translation>Führen Sie `pip install 'hip-python=={base}.*'` aus.</translation>
        </message>
        <message>
            <source>Settings could not be read from {path} ({strerror}); defaults are used.</source>
            <translation>Die Einstellungen konnten nicht aus {path} gelesen werden ({strerror}); es gelten die Vorgaben.</translation>
        </message>
        <message>
            <source>Settings were not saved to {path}, because the file there cannot be read: {why_unread}.</source>
            <translation>Die Einstellungen wurden nicht in {path} gespeichert, weil sich die Datei dort nicht lesen lässt: {why_unread}.</translation>
        </message>
        <message>
            <source>Settings were not saved to {path}: {error:w}.</source>
            <translation>Die Einstellungen wurden nicht in {path} gespeichert: {error:w}.</translation>
        </message>
        <message>
            <source>Start Haloband without the variable HALOBAND_NATIVE.</source>
            <translation>Starten Sie Haloband ohne die Variable HALOBAND_NATIVE.</translation>
        </message>
        <message>
            <source>Swap in use</source>
            <translation>Auslagerung in Gebrauch</translation>
        </message>
        <message>
            <source>The benchmark {name} cannot be read: {error:w}.</source>
            <translation>Der Benchmark {name} kann nicht gelesen werden: {error:w}.</translation>
        </message>
        <message>
            <source>The chat database {path} failed: {error:w}.</source>
            <translation>Die Chat-Datenbank {path} ist fehlgeschlagen: {error:w}.</translation>
        </message>
        <message>
            <source>The chat database {path} is damaged.</source>
            <translation>Die Chat-Datenbank {path} ist beschädigt.</translation>
        </message>
        <message>
            <source>The chat database {path} is locked by another program.</source>
            <translation>Die Chat-Datenbank {path} ist von einem anderen Programm gesperrt.</translation>
        </message>
        <message>
            <source>The chats are closed.</source>
            <translation>Die Chats sind geschlossen.</translation>
        </message>
        <message>
            <source>The chats in {path} were written by a newer Haloband (format {version}, this one knows {migrations}).</source>
            <translation>Die Chats in {path} wurden von einem neueren Haloband geschrieben (Format {version}, dieses kennt {migrations}).</translation>
        </message>
        <message>
            <source>The chats on disk were damaged. They are kept as {aside}, a new file is used.</source>
            <translation>Die Chats auf dem Laufwerk waren beschädigt. Sie sind als {aside} aufgehoben, eine neue Datei wird benutzt.</translation>
        </message>
        <message>
            <source>The conversation ends with an assistant message, so there is nothing to answer.</source>
            <translation>Die Unterhaltung endet mit einer Antwort, also gibt es nichts zu beantworten.</translation>
        </message>
        <message>
            <source>The conversation has no user message to answer.</source>
            <translation>Die Unterhaltung hat keine Frage, die zu beantworten wäre.</translation>
        </message>
        <message>
            <source>The conversation has two assistant messages in a row; a user message must come before each answer.</source>
            <translation>In der Unterhaltung stehen zwei Antworten hintereinander; vor jeder Antwort muss eine Frage stehen.</translation>
        </message>
        <message>
            <source>The conversation starts with an assistant message; a user message must come before each answer.</source>
            <translation>Die Unterhaltung beginnt mit einer Antwort; vor jeder Antwort muss eine Frage stehen.</translation>
        </message>
        <message>
            <source>The data folder {parent} cannot be used: {error:w}.</source>
            <translation>Der Datenordner {parent} kann nicht benutzt werden: {error:w}.</translation>
        </message>
        <message>
            <source>The data folder {parent} cannot be written ({reason}).</source>
            <translation>In den Datenordner {parent} kann nicht geschrieben werden ({reason}).</translation>
        </message>
        <message>
            <source>The data folder {parent} cannot be written.</source>
            <translation>In den Datenordner {parent} kann nicht geschrieben werden.</translation>
        </message>
        <message>
            <source>The disk with {parent} is full.</source>
            <translation>Das Laufwerk mit {parent} ist voll.</translation>
        </message>
        <message>
            <source>The kernel was started with ttm.pages_limit={group}, but the driver has not taken it. Look for another value in /etc/modprobe.d and in the initramfs (`sudo update-initramfs -u`), then restart.</source>
            <translation>Der Kernel wurde mit ttm.pages_limit={group} gestartet, aber der Treiber hat es nicht übernommen. Suchen Sie in /etc/modprobe.d und im initramfs (`sudo update-initramfs -u`) nach einem anderen Wert, und starten Sie neu.</translation>
        </message>
        <message>
            <source>The kernels are made and checked for gfx1151. On {gfx} they may work, but nothing is promised.</source>
            <translation>Die Kernel sind für gfx1151 gemacht und geprüft. Auf {gfx} gehen sie vielleicht, aber nichts ist versprochen.</translation>
        </message>
        <message>
            <source>The limits in {name} cannot be used: {error:w}.</source>
            <translation>Die Grenzen in {name} können nicht benutzt werden: {error:w}.</translation>
        </message>
        <message>
            <source>The model's output is not a number, so no token can be chosen.</source>
            <translation>Die Ausgabe des Modells ist keine Zahl, also kann kein Token gewählt werden.</translation>
        </message>
        <message>
            <source>The model's pre-tokenizer {name} is not known; only 'gpt-2' and 'joyai-llm' can be used.</source>
            <translation>Der Vor-Tokenizer {name} des Modells ist nicht bekannt; nur 'gpt-2' und 'joyai-llm' können benutzt werden.</translation>
        </message>
        <message>
            <source>The model's vocabulary has no {name} token, so it cannot be used for chat.</source>
            <translation>Das Vokabular des Modells hat kein Token {name}, also kann es nicht zum Chatten benutzt werden.</translation>
        </message>
        <message>
            <source>The report {name} cannot be read: {error:w}.</source>
            <translation>Der Bericht {name} kann nicht gelesen werden: {error:w}.</translation>
        </message>
        <message>
            <source>The seed is {seed}, but must be between 0 and {largest_seed}.</source>
            <translation>Der Startwert ist {seed}, muss aber zwischen 0 und {largest_seed} liegen.</translation>
        </message>
        <message>
            <source>The settings file was damaged ({reason:w}). It is kept as {aside}, and defaults are used.</source>
            <translation>Die Einstellungsdatei war beschädigt ({reason:w}). Sie ist als {aside} aufgehoben, und es gelten die Vorgaben.</translation>
        </message>
        <message>
            <source>The settings file {path} is damaged ({reason:w}); defaults are used.</source>
            <translation>Die Einstellungsdatei {path} ist beschädigt ({reason:w}); es gelten die Vorgaben.</translation>
        </message>
        <message>
            <source>The sweep plan needs a context of at least {interval:n} tokens; {context:n} is too short.</source>
            <translation>Der Plan „sweep“ braucht einen Kontext von mindestens {interval:n} Tokens; {context:n} sind zu wenig.</translation>
        </message>
        <message>
            <source>The tape {value} in {name} does not have the hash it was frozen with.</source>
            <translation>Der Text {value} in {name} hat nicht den Hash, mit dem er festgelegt wurde.</translation>
        </message>
        <message>
            <source>The tapes in {name} are damaged: {error:w}.</source>
            <translation>Die festen Texte in {name} sind beschädigt: {error:w}.</translation>
        </message>
        <message>
            <source>The temperature is {temperature}, but must be between 0 and 100.</source>
            <translation>Die Temperatur ist {temperature}, muss aber zwischen 0 und 100 liegen.</translation>
        </message>
        <message>
            <source>The text of the {value} tape gives {ids:n} tokens; {tape_tokens:n} are needed.</source>
            <translation>Der feste Text {value} ergibt {ids:n} Tokens; {tape_tokens:n} werden gebraucht.</translation>
        </message>
        <message>
            <source>The tokenizer's merge {left} + {right} needs {part}, no text token.</source>
            <translation>Die Zusammenfügung {left} + {right} des Tokenizers braucht {part}, und das ist kein Text-Token.</translation>
        </message>
        <message>
            <source>The tokenizer's vocabulary has no token for {missing} of the 256 bytes.</source>
            <translation>Dem Vokabular des Tokenizers fehlt ein Token für {missing} der 256 Bytes.</translation>
        </message>
        <message>
            <source>The tokenizer's vocabulary has the same token twice.</source>
            <translation>Im Vokabular des Tokenizers steht ein Token zweimal.</translation>
        </message>
        <message>
            <source>The {value} plan needs a context of {needed:n} tokens; {allowed:n} is too short.</source>
            <translation>Der Plan {value} braucht einen Kontext von {needed:n} Tokens; {allowed:n} sind zu wenig.</translation>
        </message>
        <message>
            <source>There is not enough memory for this. Close other programs or use a shorter context.</source>
            <translation>Dafür ist nicht genug Speicher da. Schließen Sie andere Programme, oder wählen Sie einen kürzeren Kontext.</translation>
        </message>
        <message>
            <source>This answer has no question to answer again.</source>
            <translation>Diese Antwort hat keine Frage, die noch einmal beantwortet werden könnte.</translation>
        </message>
        <message>
            <source>This chat is no longer there.</source>
            <translation>Diesen Chat gibt es nicht mehr.</translation>
        </message>
        <message>
            <source>This document is no longer there.</source>
            <translation>Dieses Dokument gibt es nicht mehr.</translation>
        </message>
        <message>
            <source>This message is no longer there.</source>
            <translation>Diese Nachricht gibt es nicht mehr.</translation>
        </message>
        <message>
            <source>Type {type_id} cannot be read as {name}; it can be {allowed:w}.</source>
            <translation>Typ {type_id} kann nicht als {name} gelesen werden; möglich: {allowed:w}.</translation>
        </message>
        <message>
            <source>Type {type_id} could be {names}, and the weights do not tell which ({summary}).</source>
            <translation>Typ {type_id} könnte {names} sein, und die Gewichte verraten nicht, welcher ({summary}).</translation>
        </message>
        <message>
            <source>Type {type_id} means different formats in different files; the one meant must be chosen.</source>
            <translation>Typ {type_id} bedeutet in verschiedenen Dateien verschiedene Formate; der gemeinte muss gewählt werden.</translation>
        </message>
        <message>
            <source>Unset it: kernels are compiled for the GPU that ROCm names, and code for another one computes wrongly.</source>
            <translation>Entfernen Sie sie: Kernel werden für die GPU übersetzt, die ROCm nennt, und Code für eine andere rechnet falsch.</translation>
        </message>
        <message>
            <source>Unset {name}: it hides every GPU from this program.</source>
            <translation>Entfernen Sie {name}: Es verbirgt alle GPUs vor diesem Programm.</translation>
        </message>
        <message>
            <source>VRAM carve-out</source>
            <translation>Abgezweigter VRAM</translation>
        </message>
        <message>
            <source>Weights of type {name} cannot be read; convert the file first.</source>
            <translation>Gewichte vom Typ {name} können nicht gelesen werden; wandeln Sie die Datei zuerst um.</translation>
        </message>
        <message>
            <source>Weights of type {type_id} are of no known number format.</source>
            <translation>Gewichte vom Typ {type_id} haben kein bekanntes Zahlenformat.</translation>
        </message>
        <message>
            <source>Weights of type {type_id} cannot be read here; in some files they are {names}.</source>
            <translation>Gewichte vom Typ {type_id} können hier nicht gelesen werden; in manchen Dateien sind sie {names}.</translation>
        </message>
        <message>
            <source>Window</source>
            <translation>Fenster</translation>
        </message>
        <message>
            <source>Works as a rule. On crashes, install `hip-python~={base}.0` and the torch for it.</source>
            <translation>Geht in der Regel. Bei Abstürzen installieren Sie `hip-python~={base}.0` und das torch dazu.</translation>
        </message>
        <message>
            <source>You are in the group {group}, but the group may not write (mode {mode}). See which udev rule sets it: `grep -r kfd /etc/udev/rules.d /usr/lib/udev/rules.d`.</source>
            <translation>Sie sind in der Gruppe {group}, aber die Gruppe darf nicht schreiben (Modus {mode}). Sehen Sie nach, welche udev-Regel das setzt: `grep -r kfd /etc/udev/rules.d /usr/lib/udev/rules.d`.</translation>
        </message>
        <message>
            <source>a ROCm build</source>
            <translation>ein ROCm-Build</translation>
        </message>
        <message>
            <source>a ROCm build, to use the AMD GPU</source>
            <translation>ein ROCm-Build, um die AMD-GPU zu benutzen</translation>
        </message>
        <message>
            <source>a context of {context} tokens is outside 1 to {context_length}</source>
            <translation>Ein Kontext von {context} Tokens liegt außerhalb von 1 bis {context_length}</translation>
        </message>
        <message>
            <source>a conversation of {context} tokens needs {needed:n} GiB of memory, and {available:n} GiB are available; choose a shorter context or close other programs</source>
            <translation>Ein Gespräch von {context} Tokens braucht {needed:n} GiB Speicher, und {available:n} GiB sind verfügbar; wählen Sie einen kürzeren Kontext oder schließen Sie andere Programme</translation>
        </message>
        <message>
            <source>a list of finite numbers</source>
            <translation>eine Liste endlicher Zahlen</translation>
        </message>
        <message>
            <source>a list of numbers</source>
            <translation>eine Liste von Zahlen</translation>
        </message>
        <message>
            <source>a list of texts</source>
            <translation>eine Liste von Texten</translation>
        </message>
        <message>
            <source>a list of whole numbers</source>
            <translation>eine Liste ganzer Zahlen</translation>
        </message>
        <message>
            <source>a list of whole numbers below 2^31</source>
            <translation>eine Liste ganzer Zahlen unter 2^31</translation>
        </message>
        <message>
            <source>a number</source>
            <translation>eine Zahl</translation>
        </message>
        <message>
            <source>a number has {digits:n} digits</source>
            <translation>eine Zahl hat {digits:n} Stellen</translation>
        </message>
        <message>
            <source>a pool needs at least one thread, not {threads}</source>
            <translation>ein Pool braucht mindestens einen Thread, nicht {threads}</translation>
        </message>
        <message>
            <source>a step cap of {cap} tokens is below one token</source>
            <translation>Eine Schrittgröße von {cap} Tokens ist weniger als ein Token</translation>
        </message>
        <message>
            <source>a text in it has half a character, a lone surrogate</source>
            <translation>ein Text darin enthält ein halbes Zeichen, ein einzelnes Surrogat</translation>
        </message>
        <message>
            <source>a whole number</source>
            <translation>eine ganze Zahl</translation>
        </message>
        <message>
            <source>a whole number below 2^31</source>
            <translation>eine ganze Zahl unter 2^31</translation>
        </message>
        <message>
            <source>about {speed:n} GB/s: {file_bytes:n} in {file_bytes2:n}, the largest DS4 file in {ds4_weight_bytes:n}</source>
            <translation>etwa {speed:n} GB/s: {file_bytes:n} in {file_bytes2:n}, die größte DS4-Datei in {ds4_weight_bytes:n}</translation>
        </message>
        <message>
            <source>all hashes are equal within each arm</source>
            <translation>alle Hashes sind in jedem Arm gleich</translation>
        </message>
        <message>
            <source>all of them</source>
            <translation>alle</translation>
        </message>
        <message>
            <source>amdgpu driver</source>
            <translation>amdgpu-Treiber</translation>
        </message>
        <message>
            <source>an answer of {max_tokens} tokens was asked for</source>
            <translation>Es wurde eine Antwort von {max_tokens} Tokens verlangt</translation>
        </message>
        <message>
            <source>an object</source>
            <translation>ein Objekt</translation>
        </message>
        <message>
            <source>any</source>
            <translation>beliebig</translation>
        </message>
        <message>
            <source>any but MES 0x83 (linux-firmware 20251125)</source>
            <translation>jede außer MES 0x83 (linux-firmware 20251125)</translation>
        </message>
        <message>
            <source>appears twice</source>
            <translation>kommt zweimal vor</translation>
        </message>
        <message>
            <source>as good as none</source>
            <translation>so gut wie keine</translation>
        </message>
        <message>
            <source>backend {name} is not one of auto, cpu, gpu</source>
            <translation>Die Ausführung {name} ist keine von auto, cpu, gpu</translation>
        </message>
        <message>
            <source>block_count is {layers}</source>
            <translation>block_count ist {layers}</translation>
        </message>
        <message>
            <source>can be read and written by you</source>
            <translation>kann von Ihnen gelesen und geschrieben werden</translation>
        </message>
        <message>
            <source>cannot start {threads} worker threads</source>
            <translation>{threads} Arbeits-Threads können nicht gestartet werden</translation>
        </message>
        <message>
            <source>close other programs or choose a smaller model</source>
            <translation>schließen Sie andere Programme, oder wählen Sie ein kleineres Modell</translation>
        </message>
        <message>
            <source>close other programs that use the GPU or much memory</source>
            <translation>schließen Sie andere Programme, die die GPU oder viel Speicher benutzen</translation>
        </message>
        <message>
            <source>compiled kernels for this processor</source>
            <translation>übersetzte Kernel für diesen Prozessor</translation>
        </message>
        <message>
            <source>cross KL {cross:n} against {limit:n} (noise {noise:n}): a miss by {cross2:n}</source>
            <translation>Kreuz-KL {cross:n} gegen {limit:n} (Rauschen {noise:n}): um {cross2:n} verfehlt</translation>
        </message>
        <message>
            <source>cross KL {cross:n} against {limit:n} (noise {noise:n}): {limit2:n} below</source>
            <translation>Kreuz-KL {cross:n} gegen {limit:n} (Rauschen {noise:n}): {limit2:n} darunter</translation>
        </message>
        <message>
            <source>determinism</source>
            <translation>Wiederholbarkeit</translation>
        </message>
        <message>
            <source>did not start, or did not end in two minutes</source>
            <translation>startete nicht oder endete nicht in zwei Minuten</translation>
        </message>
        <message>
            <source>dimension {axis} of tensor {name}</source>
            <translation>Dimension {axis} von Tensor {name}</translation>
        </message>
        <message>
            <source>does not exist</source>
            <translation>fehlt</translation>
        </message>
        <message>
            <source>does not fit: {error:w}</source>
            <translation>passt nicht: {error:w}</translation>
        </message>
        <message>
            <source>dtype {name} is not one of auto, {dtypes}</source>
            <translation>dtype {name} ist keiner von auto, {dtypes}</translation>
        </message>
        <message>
            <source>element {index:n} of {field:w}</source>
            <translation>Element {index:n} von {field:w}</translation>
        </message>
        <message>
            <source>ended with status {status}: {stderr}</source>
            <translation>endete mit dem Status {status}: {stderr}</translation>
        </message>
        <message>
            <source>ends at byte {end:n}, but the file has only {file_bytes:n} bytes</source>
            <translation>endet bei Byte {end:n}, aber die Datei hat nur {file_bytes:n} Bytes</translation>
        </message>
        <message>
            <source>ends at byte {start:n}, but the file has {file_bytes:n} bytes</source>
            <translation>endet bei Byte {start:n}, aber die Datei hat {file_bytes:n} Bytes</translation>
        </message>
        <message>
            <source>finite numbers</source>
            <translation>endliche Zahlen</translation>
        </message>
        <message>
            <source>follows a hole</source>
            <translation>folgt auf eine Lücke</translation>
        </message>
        <message>
            <source>gfx1151 (Strix Halo) for DeepSeek V4 Flash itself; the embedded model runs on the processor too</source>
            <translation>gfx1151 (Strix Halo) für DeepSeek V4 Flash selbst; das eingebaute Modell läuft auch auf dem Prozessor</translation>
        </message>
        <message>
            <source>greedy</source>
            <translation>Greedy</translation>
        </message>
        <message>
            <source>greedy answers share {greedy_prefix} tokens, at least {limit}</source>
            <translation>Greedy-Antworten teilen {greedy_prefix} Tokens, mindestens {limit}</translation>
        </message>
        <message>
            <source>greedy answers share {greedy_prefix} tokens, at least {limit} (a tie)</source>
            <translation>Greedy-Antworten teilen {greedy_prefix} Tokens, mindestens {limit} (ein Gleichstand)</translation>
        </message>
        <message>
            <source>greedy answers share {greedy_prefix} tokens, at least {limit}; they part at a top-2 gap of {greedy_gap:n}</source>
            <translation>Greedy-Antworten teilen {greedy_prefix} Tokens, mindestens {limit}; sie trennen sich bei einem Abstand der besten zwei von {greedy_gap:n}</translation>
        </message>
        <message>
            <source>greedy answers share {greedy_prefix} tokens, at least {limit}; they part at a top-2 gap of {greedy_gap:n} (a tie)</source>
            <translation>Greedy-Antworten teilen {greedy_prefix} Tokens, mindestens {limit}; sie trennen sich bei einem Abstand der besten zwei von {greedy_gap:n} (ein Gleichstand)</translation>
        </message>
        <message>
            <source>group {group}, mode {mode}; {name} may not open it</source>
            <translation>Gruppe {group}, Modus {mode}; {name} darf es nicht öffnen</translation>
        </message>
        <message>
            <source>group {group}, mode {mode}; {name} may open it</source>
            <translation>Gruppe {group}, Modus {mode}; {name} darf es öffnen</translation>
        </message>
        <message>
            <source>has a scale that is not a number</source>
            <translation>hat einen Skalenfaktor, der keine Zahl ist</translation>
        </message>
        <message>
            <source>has no name</source>
            <translation>hat keinen Namen</translation>
        </message>
        <message>
            <source>has rows of {wide} FP4 weights, which are no whole blocks of {fp4_block}</source>
            <translation>hat Zeilen von {wide} FP4-Gewichten, keine ganzen Blöcke von {fp4_block}</translation>
        </message>
        <message>
            <source>hashes differ within an arm</source>
            <translation>Hashes unterscheiden sich in einem Arm</translation>
        </message>
        <message>
            <source>hip-python is not installed ({missing:w})</source>
            <translation>hip-python ist nicht installiert ({missing:w})</translation>
        </message>
        <message>
            <source>hiprtc cannot be loaded ({missing:w})</source>
            <translation>hiprtc kann nicht geladen werden ({missing:w})</translation>
        </message>
        <message>
            <source>holds numbers that need more than 32 bits</source>
            <translation>enthält Zahlen, die mehr als 32 Bit brauchen</translation>
        </message>
        <message>
            <source>is empty: its shape is {shape}</source>
            <translation>ist leer: seine Form ist {shape}</translation>
        </message>
        <message>
            <source>is neither true nor false</source>
            <translation>ist weder wahr noch falsch</translation>
        </message>
        <message>
            <source>is not aligned to {alignment} bytes</source>
            <translation>ist nicht auf {alignment} Bytes ausgerichtet</translation>
        </message>
        <message>
            <source>is not described by a type, a shape and two offsets</source>
            <translation>ist nicht durch einen Typ, eine Form und zwei Stellen beschrieben</translation>
        </message>
        <message>
            <source>is not valid UTF-8</source>
            <translation>ist kein gültiges UTF-8</translation>
        </message>
        <message>
            <source>is of type {dtype}, which is not known</source>
            <translation>ist vom Typ {dtype}, der nicht bekannt ist</translation>
        </message>
        <message>
            <source>is {code}, which GGUF does not define</source>
            <translation>ist {code}, was GGUF nicht kennt</translation>
        </message>
        <message>
            <source>is {dimensions:n}, not 1 to {max_dimensions}</source>
            <translation>ist {dimensions:n}, nicht 1 bis {max_dimensions}</translation>
        </message>
        <message>
            <source>is {dtype} of shape {shape} with scales, a form that is not known</source>
            <translation>ist {dtype} der Form {shape} mit Skalen, eine Form, die nicht bekannt ist</translation>
        </message>
        <message>
            <source>is {dtype} of shape {shape}, a form that is not known</source>
            <translation>ist {dtype} der Form {shape}, eine Form, die nicht bekannt ist</translation>
        </message>
        <message>
            <source>is {dtype} of shape {shape}, not F8_E8M0 of shape {shape2}</source>
            <translation>ist {dtype} der Form {shape}, nicht F8_E8M0 der Form {shape2}</translation>
        </message>
        <message>
            <source>is {dtype}, but its scales are missing</source>
            <translation>ist {dtype}, aber seine Skalen fehlen</translation>
        </message>
        <message>
            <source>is {number}, not a finite number</source>
            <translation>ist {number}, keine endliche Zahl</translation>
        </message>
        <message>
            <source>is {size:n}, which gives no sound size</source>
            <translation>ist {size:n}, was keine brauchbare Größe ergibt</translation>
        </message>
        <message>
            <source>is {type_id:n}, which is not a known number format</source>
            <translation>ist {type_id:n}, kein bekanntes Zahlenformat</translation>
        </message>
        <message>
            <source>is {value:n}, more than the limit of {limit:n}</source>
            <translation>ist {value:n}, mehr als die Grenze von {limit:n}</translation>
        </message>
        <message>
            <source>is {value:n}, which cannot fit in the {left:n} bytes left in the file</source>
            <translation>ist {value:n}, was nicht in die übrigen {left:n} Bytes der Datei passt</translation>
        </message>
        <message>
            <source>it answers</source>
            <translation>es antwortet</translation>
        </message>
        <message>
            <source>it can be opened</source>
            <translation>es lässt sich öffnen</translation>
        </message>
        <message>
            <source>it is larger than 1 MiB</source>
            <translation>sie ist größer als 1 MiB</translation>
        </message>
        <message>
            <source>it nests too deep</source>
            <translation>es ist zu tief verschachtelt</translation>
        </message>
        <message>
            <source>it said nothing</source>
            <translation>er sagte nichts</translation>
        </message>
        <message>
            <source>it sees the GPU</source>
            <translation>es sieht die GPU</translation>
        </message>
        <message>
            <source>kernel {kernel} does not build for {target} with {compiler}, which names no error</source>
            <translation>Kernel {kernel} lässt sich nicht für {target} übersetzen; {compiler} nennt keinen Fehler</translation>
        </message>
        <message>
            <source>kernel {kernel} does not build for {target} with {compiler}: {first}</source>
            <translation>Kernel {kernel} lässt sich mit {compiler} nicht für {target} übersetzen: {first}</translation>
        </message>
        <message>
            <source>kernel {kernel} failed on {device}: {call} returned {status}</source>
            <translation>Kernel {kernel} ist auf {device} gescheitert: {call} gab {status} zurück</translation>
        </message>
        <message>
            <source>kv_rounding 'none' keeps float32 rows; the GPU stores rows in F16</source>
            <translation>kv_rounding 'none' hält Zeilen in float32; die GPU speichert Zeilen in F16</translation>
        </message>
        <message>
            <source>lies beyond the limit of {max_header_bytes:n} bytes for a header</source>
            <translation>liegt jenseits der Grenze von {max_header_bytes:n} Bytes für einen Kopf</translation>
        </message>
        <message>
            <source>machine</source>
            <translation>Rechner</translation>
        </message>
        <message>
            <source>mean KL</source>
            <translation>Mittlere KL</translation>
        </message>
        <message>
            <source>memory ran out at token {position}; nothing before it was lost</source>
            <translation>Der Speicher ging bei Token {position} aus; nichts davor ging verloren</translation>
        </message>
        <message>
            <source>memory ran out for a conversation of {context} tokens; choose a shorter context or close other programs</source>
            <translation>Der Speicher reichte nicht für ein Gespräch von {context} Tokens; wählen Sie einen kürzeren Kontext oder schließen Sie andere Programme</translation>
        </message>
        <message>
            <source>metadata key {index:n}</source>
            <translation>Metadatenschlüssel {index:n}</translation>
        </message>
        <message>
            <source>metadata key {key}</source>
            <translation>Metadatenschlüssel {key}</translation>
        </message>
        <message>
            <source>min-p is {min_p}, but must be between 0 and 1.</source>
            <translation>min-p ist {min_p}, muss aber zwischen 0 und 1 liegen.</translation>
        </message>
        <message>
            <source>needs {count:n} bytes, but only {left:n} are left in the file</source>
            <translation>braucht {count:n} Bytes, aber in der Datei sind nur noch {left:n}</translation>
        </message>
        <message>
            <source>needs {size:n} bytes for its shape {shape}, but its offsets are {offsets}</source>
            <translation>braucht {size:n} Bytes für seine Form {shape}, aber seine Stellen sind {offsets}</translation>
        </message>
        <message>
            <source>nested too deeply</source>
            <translation>zu tief verschachtelt</translation>
        </message>
        <message>
            <source>nests arrays more than {max_array_depth} deep</source>
            <translation>verschachtelt Listen tiefer als {max_array_depth}</translation>
        </message>
        <message>
            <source>no AMD GPU: hip-python is not installed ({missing:w})</source>
            <translation>keine AMD-GPU: hip-python ist nicht installiert ({missing:w})</translation>
        </message>
        <message>
            <source>no AMD GPU: hipGetDeviceCount returned {name}, {count} devices</source>
            <translation>keine AMD-GPU: hipGetDeviceCount gab {name} zurück, {count} Geräte</translation>
        </message>
        <message>
            <source>no AMD GPU: hipGetDeviceProperties returned {name}</source>
            <translation>keine AMD-GPU: hipGetDeviceProperties gab {name} zurück</translation>
        </message>
        <message>
            <source>no AMD GPU: the HIP runtime cannot be loaded ({missing:w})</source>
            <translation>keine AMD-GPU: Die HIP-Bibliothek kann nicht geladen werden ({missing:w})</translation>
        </message>
        <message>
            <source>no GPU: this torch sees none</source>
            <translation>keine GPU: Dieses torch sieht keine</translation>
        </message>
        <message>
            <source>no NVIDIA GPU: cuda-bindings is not installed ({missing:w})</source>
            <translation>keine NVIDIA-GPU: cuda-bindings ist nicht installiert ({missing:w})</translation>
        </message>
        <message>
            <source>no NVIDIA GPU: this torch sees no CUDA device</source>
            <translation>keine NVIDIA-GPU: Dieses torch sieht kein CUDA-Gerät</translation>
        </message>
        <message>
            <source>no gfx compiler: the ziglang package is not installed (pip install ziglang)</source>
            <translation>kein Compiler für gfx: Das Paket ziglang ist nicht installiert (pip install ziglang)</translation>
        </message>
        <message>
            <source>noise {noise:n}, must be exactly 0</source>
            <translation>Rauschen {noise:n}, muss genau 0 sein</translation>
        </message>
        <message>
            <source>none</source>
            <translation>nicht vorhanden</translation>
        </message>
        <message>
            <source>none: torch does the work, several times slower after short prompts</source>
            <translation>nicht vorhanden: torch rechnet, nach kurzen Prompts einige Male langsamer</translation>
        </message>
        <message>
            <source>not Linux, or unknown</source>
            <translation>nicht Linux oder unbekannt</translation>
        </message>
        <message>
            <source>not built</source>
            <translation>nicht gebaut</translation>
        </message>
        <message>
            <source>not installed: {missing}</source>
            <translation>nicht installiert: {missing}</translation>
        </message>
        <message>
            <source>not loaded</source>
            <translation>nicht geladen</translation>
        </message>
        <message>
            <source>not set</source>
            <translation>nicht gesetzt</translation>
        </message>
        <message>
            <source>not set, or a number</source>
            <translation>nicht gesetzt, oder eine Zahl</translation>
        </message>
        <message>
            <source>nothing on a machine without an AMD GPU</source>
            <translation>nichts auf einem Rechner ohne AMD-GPU</translation>
        </message>
        <message>
            <source>nothing that can be read</source>
            <translation>nichts, was gelesen werden kann</translation>
        </message>
        <message>
            <source>of the kernel</source>
            <translation>der des Kernels</translation>
        </message>
        <message>
            <source>on battery</source>
            <translation>Akkubetrieb</translation>
        </message>
        <message>
            <source>one ROCm version in all of them</source>
            <translation>eine ROCm-Version in allen</translation>
        </message>
        <message>
            <source>other programs kept {others:n} processor cores busy</source>
            <translation>andere Programme beschäftigten {others:n} Prozessorkerne</translation>
        </message>
        <message>
            <source>overlaps another tensor</source>
            <translation>überlappt einen anderen Tensor</translation>
        </message>
        <message>
            <source>performance</source>
            <translation>Leistung (performance)</translation>
        </message>
        <message>
            <source>plain torch</source>
            <translation>nur torch</translation>
        </message>
        <message>
            <source>plain torch: {obstacle:w}</source>
            <translation>nur torch: {obstacle:w}</translation>
        </message>
        <message>
            <source>plugged in</source>
            <translation>am Netz</translation>
        </message>
        <message>
            <source>pp{seed_prompt}, one step against two</source>
            <translation>pp{seed_prompt}, ein Schritt gegen zwei</translation>
        </message>
        <message>
            <source>processor governor {governor}</source>
            <translation>Prozessorregler {governor}</translation>
        </message>
        <message>
            <source>retrieval</source>
            <translation>Schlüsselsuche</translation>
        </message>
        <message>
            <source>run.rows[{index}] has a figure that cannot be</source>
            <translation>run.rows[{index}] enthält eine Angabe, die nicht sein kann</translation>
        </message>
        <message>
            <source>safetensors file</source>
            <translation>eine safetensors-Datei</translation>
        </message>
        <message>
            <source>should be a list of texts</source>
            <translation>sollte eine Liste von Texten sein</translation>
        </message>
        <message>
            <source>should be from {limits:n} to {limits2:n}</source>
            <translation>sollte von {limits:n} bis {limits2:n} gehen</translation>
        </message>
        <message>
            <source>should be one of {hint}</source>
            <translation>sollte eines von {hint} sein</translation>
        </message>
        <message>
            <source>should be {names}</source>
            <translation>sollte {names} sein</translation>
        </message>
        <message>
            <source>state</source>
            <translation>Zustand</translation>
        </message>
        <message>
            <source>tensor {index:n}</source>
            <translation>Tensor {index:n}</translation>
        </message>
        <message>
            <source>tensor {name}</source>
            <translation>Tensor {name}</translation>
        </message>
        <message>
            <source>that of ROCm {rocm}</source>
            <translation>der von ROCm {rocm}</translation>
        </message>
        <message>
            <source>that of ROCm {rocm}, a preview</source>
            <translation>der von ROCm {rocm}, eine Vorschau</translation>
        </message>
        <message>
            <source>the GPU failed ({error})</source>
            <translation>Die GPU hat versagt ({error})</translation>
        </message>
        <message>
            <source>the GPU kernels do not fit this model: {obstacle}</source>
            <translation>die GPU-Kernel passen nicht zu diesem Modell: {obstacle}</translation>
        </message>
        <message>
            <source>the GPU may map {gtt_total:n} GiB of main memory: raise that limit with the kernel parameter ttm.pages_limit={wanted}, or choose a smaller model</source>
            <translation>die GPU darf {gtt_total:n} GiB des Hauptspeichers benutzen: Erhöhen Sie diese Grenze mit dem Kernel-Parameter ttm.pages_limit={wanted}, oder wählen Sie ein kleineres Modell</translation>
        </message>
        <message>
            <source>the GPU was {gpu_busy_percent} % busy before the run</source>
            <translation>die GPU war vor dem Lauf zu {gpu_busy_percent} % beschäftigt</translation>
        </message>
        <message>
            <source>the dimension count of tensor {name}</source>
            <translation>die Zahl der Dimensionen von Tensor {name}</translation>
        </message>
        <message>
            <source>the disk is full</source>
            <translation>das Laufwerk ist voll</translation>
        </message>
        <message>
            <source>the element count of {field:w}</source>
            <translation>die Zahl der Elemente von {field:w}</translation>
        </message>
        <message>
            <source>the elements of {field:w}</source>
            <translation>die Elemente von {field:w}</translation>
        </message>
        <message>
            <source>the embedded model answers</source>
            <translation>das eingebaute Modell antwortet</translation>
        </message>
        <message>
            <source>the embedded model answers ({backend} on {device}; {native_note:w})</source>
            <translation>das eingebaute Modell antwortet ({backend} auf {device}; {native_note:w})</translation>
        </message>
        <message>
            <source>the folder is gone</source>
            <translation>der Ordner ist verschwunden</translation>
        </message>
        <message>
            <source>the folder is read-only</source>
            <translation>der Ordner ist schreibgeschützt</translation>
        </message>
        <message>
            <source>the format version</source>
            <translation>die Formatversion</translation>
        </message>
        <message>
            <source>the kernel does not say whether pages were swapped in</source>
            <translation>der Kernel sagt nicht, ob Seiten eingelagert wurden</translation>
        </message>
        <message>
            <source>the kernel's own amdgpu driver</source>
            <translation>der amdgpu-Treiber des Kernels</translation>
        </message>
        <message>
            <source>the length of {field:w}</source>
            <translation>die Länge von {field:w}</translation>
        </message>
        <message>
            <source>the machine runs on its battery</source>
            <translation>der Rechner läuft im Akkubetrieb</translation>
        </message>
        <message>
            <source>the magic number</source>
            <translation>die Kennzahl am Anfang</translation>
        </message>
        <message>
            <source>the metadata key count</source>
            <translation>die Zahl der Metadatenschlüssel</translation>
        </message>
        <message>
            <source>the model cannot run on a GPU here: {reason:w}</source>
            <translation>Das Modell kann hier nicht auf einer GPU laufen: {reason:w}</translation>
        </message>
        <message>
            <source>the model's YaRN {name} is {value}, outside any sensible range</source>
            <translation>YaRN {name} des Modells ist {value}, außerhalb jedes vernünftigen Bereichs</translation>
        </message>
        <message>
            <source>the model's shape does not fit together: {complaint}</source>
            <translation>Die Maße des Modells passen nicht zusammen: {complaint}</translation>
        </message>
        <message>
            <source>the model's {name} is {value}, not a number above 1</source>
            <translation>{name} des Modells ist {value}, keine Zahl über 1</translation>
        </message>
        <message>
            <source>the model's {name} is {value}, not a positive number</source>
            <translation>{name} des Modells ist {value}, keine positive Zahl</translation>
        </message>
        <message>
            <source>the model's {name} is {value}, outside 1 to {limit}</source>
            <translation>{name} des Modells ist {value}, außerhalb von 1 bis {limit}</translation>
        </message>
        <message>
            <source>the name of metadata key {index:n}</source>
            <translation>der Name von Metadatenschlüssel {index:n}</translation>
        </message>
        <message>
            <source>the name of tensor {index:n}</source>
            <translation>der Name von Tensor {index:n}</translation>
        </message>
        <message>
            <source>the number {text} is too large</source>
            <translation>die Zahl {text} ist zu groß</translation>
        </message>
        <message>
            <source>the offset of tensor {name}</source>
            <translation>die Stelle von Tensor {name}</translation>
        </message>
        <message>
            <source>the power profile is {power_profile}</source>
            <translation>das Energieprofil ist {power_profile}</translation>
        </message>
        <message>
            <source>the prompt is empty</source>
            <translation>Der Prompt ist leer</translation>
        </message>
        <message>
            <source>the prompt needs {ids} tokens, this session's context holds {context}</source>
            <translation>Der Prompt braucht {ids} Tokens, der Kontext dieser Sitzung fasst {context}</translation>
        </message>
        <message>
            <source>the prompt needs {needed} tokens, this session's context holds {context}</source>
            <translation>Der Prompt braucht {needed} Tokens, der Kontext dieser Sitzung fasst {context}</translation>
        </message>
        <message>
            <source>the prompt was stopped</source>
            <translation>das Lesen des Prompts wurde angehalten</translation>
        </message>
        <message>
            <source>the same major version as ROCm</source>
            <translation>dieselbe Hauptversion wie ROCm</translation>
        </message>
        <message>
            <source>the tensor count</source>
            <translation>die Zahl der Tensoren</translation>
        </message>
        <message>
            <source>the type of tensor {name}</source>
            <translation>der Typ von Tensor {name}</translation>
        </message>
        <message>
            <source>the type of {field:w}</source>
            <translation>der Typ von {field:w}</translation>
        </message>
        <message>
            <source>this processor lacks {missing}</source>
            <translation>dieser Prozessor hat nicht: {missing}</translation>
        </message>
        <message>
            <source>this torch sees no GPU</source>
            <translation>dieses torch sieht keine GPU</translation>
        </message>
        <message>
            <source>token id {token} is outside the vocabulary of {vocab}</source>
            <translation>Token-Nummer {token} liegt außerhalb des Vokabulars von {vocab}</translation>
        </message>
        <message>
            <source>top-1</source>
            <translation>Top-1</translation>
        </message>
        <message>
            <source>top-1 agrees in {worst:n} of the rows, at least {limit:n} (within an arm {within:n})</source>
            <translation>Top-1 stimmt in {worst:n} der Zeilen überein, mindestens {limit:n} (innerhalb eines Arms {within:n})</translation>
        </message>
        <message>
            <source>top-k is {top_k}, but must be 0 (off) or more.</source>
            <translation>top-k ist {top_k}, muss aber 0 (aus) oder mehr sein.</translation>
        </message>
        <message>
            <source>top-p is {top_p}, but must be above 0 and at most 1.</source>
            <translation>top-p ist {top_p}, muss aber über 0 und höchstens 1 sein.</translation>
        </message>
        <message>
            <source>torch</source>
            <translation>torch</translation>
        </message>
        <message>
            <source>torch and the GPU</source>
            <translation>torch und die GPU</translation>
        </message>
        <message>
            <source>torch cannot use the GPU ({failure})</source>
            <translation>torch kann die GPU nicht verwenden ({failure})</translation>
        </message>
        <message>
            <source>torch {torch} sees no GPU</source>
            <translation>torch {torch} sieht keine GPU</translation>
        </message>
        <message>
            <source>true or false</source>
            <translation>wahr oder falsch</translation>
        </message>
        <message>
            <source>turned off by HALOBAND_NATIVE={wanted}</source>
            <translation>ausgeschaltet durch HALOBAND_NATIVE={wanted}</translation>
        </message>
        <message>
            <source>unknown</source>
            <translation>unbekannt</translation>
        </message>
        <message>
            <source>was killed by signal {status} while loading</source>
            <translation>wurde beim Laden durch das Signal {status} beendet</translation>
        </message>
        <message>
            <source>ziglang (compiles without a GPU)</source>
            <translation>ziglang (übersetzt ohne GPU)</translation>
        </message>
        <message>
            <source>{available:n} of {MemTotal:n}</source>
            <translation>{available:n} von {MemTotal:n}</translation>
        </message>
        <message>
            <source>{backend} on {device}: not finite</source>
            <translation>{backend} auf {device}: nicht endlich</translation>
        </message>
        <message>
            <source>{file_name}: tokenizer.ggml.merges has {merge}, which is not a pair.</source>
            <translation>{file_name}: tokenizer.ggml.merges enthält {merge}, das kein Paar ist.</translation>
        </message>
        <message>
            <source>{folder} holds no {config}; choose a GGUF file or the folder of a DeepSeek V4 model.</source>
            <translation>In {folder} liegt keine {config}; wählen Sie eine GGUF-Datei oder den Ordner eines DeepSeek-V4-Modells.</translation>
        </message>
        <message>
            <source>{folder} lacks tensor {name}, which {index} places there.</source>
            <translation>In {folder} fehlt Tensor {name}, der dort laut {index} liegt.</translation>
        </message>
        <message>
            <source>{folder}: tensor {name} is in {name2} and {name3}.</source>
            <translation>{folder}: Tensor {name} ist in {name2} und {name3}.</translation>
        </message>
        <message>
            <source>{found} of {keys} keys found, {could} without selection</source>
            <translation>{found} von {keys} Schlüsseln gefunden, {could} ohne Auswahl</translation>
        </message>
        <message>
            <source>{found} of {keys} keys found, {could} without selection; lost at a depth of {lost:n}</source>
            <translation>{found} von {keys} Schlüsseln gefunden, {could} ohne Auswahl; verloren in einer Tiefe von {lost:n}</translation>
        </message>
        <message>
            <source>{library} is missing</source>
            <translation>{library} fehlt</translation>
        </message>
        <message>
            <source>{name:w} is damaged: it does not hold a JSON object.</source>
            <translation>{name:w} ist beschädigt: Es enthält kein JSON-Objekt.</translation>
        </message>
        <message>
            <source>{name:w} is damaged: its JSON cannot be read ({error:w}).</source>
            <translation>{name:w} ist beschädigt: Das JSON kann nicht gelesen werden ({error:w}).</translation>
        </message>
        <message>
            <source>{name} ({pci_id}), but no driver has taken it</source>
            <translation>{name} ({pci_id}), aber kein Treiber hat sie übernommen</translation>
        </message>
        <message>
            <source>{name} ({pci_id}), which the compute driver does not list</source>
            <translation>{name} ({pci_id}), die der Rechentreiber nicht führt</translation>
        </message>
        <message>
            <source>{name} ends in {suffix:w}; a benchmark is saved as .json, .csv or .md.</source>
            <translation>{name} endet auf {suffix:w}; ein Benchmark wird als .json, .csv oder .md gespeichert.</translation>
        </message>
        <message>
            <source>{name} has no field {field}, which is needed.</source>
            <translation>{name} hat kein Feld {field}, das gebraucht wird.</translation>
        </message>
        <message>
            <source>{name} has no metadata key {key}, which is needed.</source>
            <translation>{name} hat keinen Metadatenschlüssel {key}, der gebraucht wird.</translation>
        </message>
        <message>
            <source>{name} has {file_bytes:n}, too little to tell the disk's speed</source>
            <translation>{name} hat {file_bytes:n}, zu wenig, um die Geschwindigkeit des Laufwerks zu erkennen</translation>
        </message>
        <message>
            <source>{name} is damaged: {field:w} at byte {offset:n} {problem:w}.</source>
            <translation>{name} ist beschädigt: {field:w} bei Byte {offset:n} {problem:w}.</translation>
        </message>
        <message>
            <source>{name} is not a number</source>
            <translation>{name} ist keine Zahl</translation>
        </message>
        <message>
            <source>{name}, which tells the processor's features, cannot be opened</source>
            <translation>{name}, das die Fähigkeiten des Prozessors nennt, kann nicht geöffnet werden</translation>
        </message>
        <message>
            <source>{name}: added token {entry} is not an id with a text.</source>
            <translation>{name}: Das hinzugefügte Token {entry} ist keine Nummer mit einem Text.</translation>
        </message>
        <message>
            <source>{name}: added token {token} has id {number}, which does not fit the vocabulary.</source>
            <translation>{name}: Das hinzugefügte Token {token} hat die Nummer {number}, die nicht zum Vokabular passt.</translation>
        </message>
        <message>
            <source>{name}: architecture {architecture} is not {architecture2}, the one we run</source>
            <translation>{name}: Die Architektur {architecture} ist nicht {architecture2}, die einzige, die hier läuft</translation>
        </message>
        <message>
            <source>{name}: by the weights, type {type_id} is {name2} in tensor {stored_as} but {name3} in {stored_as2}.</source>
            <translation>{name}: Nach den Gewichten ist Typ {type_id} in Tensor {stored_as} {name2}, aber in {stored_as2} {name3}.</translation>
        </message>
        <message>
            <source>{name}: by the weights, type {type_id} is {name2} in tensor {stored_as} but {name3} in {stored_as2}; say which is meant with haloband convert --read-as {type_id2}="NAME".</source>
            <translation>{name}: Nach den Gewichten ist Typ {type_id} in Tensor {stored_as} {name2}, aber in {stored_as2} {name3}; sagen Sie mit haloband convert --read-as {type_id2}="NAME", was gemeint ist.</translation>
        </message>
        <message>
            <source>{name}: expert_gating_func is {gating}, not {sqrt_softplus} (sqrt-softplus)</source>
            <translation>{name}: expert_gating_func ist {gating}, nicht {sqrt_softplus} (sqrt-softplus)</translation>
        </message>
        <message>
            <source>{name}: merges has {merge}, which is not a pair.</source>
            <translation>{name}: merges enthält {merge}, das kein Paar ist.</translation>
        </message>
        <message>
            <source>{name}: metadata key {key} must be {wanted:w}, but holds {kind}.</source>
            <translation>{name}: Der Metadatenschlüssel {key} muss {wanted:w} sein, enthält aber {kind}.</translation>
        </message>
        <message>
            <source>{name}: on the {where} this model needs {total:n} GiB of memory (weights {weights:n}), and {available:n} GiB are available; {advice:w}</source>
            <translation>{name}: Auf der {where} braucht dieses Modell {total:n} GiB Speicher (Gewichte {weights:n}), und {available:n} GiB sind frei; {advice:w}</translation>
        </message>
        <message>
            <source>{name}: on the {where} this model needs {total:n} GiB of memory, and {available:n} GiB are available; {advice:w}</source>
            <translation>{name}: Auf der {where} braucht dieses Modell {total:n} GiB Speicher, und {available:n} GiB sind frei; {advice:w}</translation>
        </message>
        <message>
            <source>{name}: tensor {name2} is in {path} and in {path2}.</source>
            <translation>{name}: Tensor {name2} ist in {path} und in {path2}.</translation>
        </message>
        <message>
            <source>{name}: tensor {name2} is missing</source>
            <translation>{name}: Tensor {name2} fehlt</translation>
        </message>
        <message>
            <source>{name}: tensor {prefix}ffn_gate_tid2eid.weight names an expert outside 0 to {experts}</source>
            <translation>{name}: Tensor {prefix}ffn_gate_tid2eid.weight nennt einen Experten außerhalb von 0 bis {experts}</translation>
        </message>
        <message>
            <source>{name}: tensor {stored_as} cannot hold {name2} weights of shape {shape} in {nbytes:n} bytes</source>
            <translation>{name}: Tensor {stored_as} kann {name2}-Gewichte der Form {shape} nicht in {nbytes:n} Bytes enthalten</translation>
        </message>
        <message>
            <source>{name}: tensor {stored_as} has shape {shape}, not {shape2}</source>
            <translation>{name}: Tensor {stored_as} hat die Form {shape}, nicht {shape2}</translation>
        </message>
        <message>
            <source>{name}: tensor {stored_as} has weights beyond F16, in which this GPU's kernels hold {name2}.</source>
            <translation>{name}: Tensor {stored_as} hat Gewichte jenseits von F16, worin die Kernel dieser GPU {name2} halten.</translation>
        </message>
        <message>
            <source>{name}: tensor {stored_as}: {error:w}</source>
            <translation>{name}: Tensor {stored_as}: {error:w}</translation>
        </message>
        <message>
            <source>{name}: tensor {stored_as}: {sentence:w}.</source>
            <translation>{name}: Tensor {stored_as}: {sentence:w}.</translation>
        </message>
        <message>
            <source>{name}: tensor {stored_as}: {sentence:w}; say which is meant with haloband convert --read-as {type_id}="NAME".</source>
            <translation>{name}: Tensor {stored_as}: {sentence:w}; sagen Sie mit haloband convert --read-as {type_id}="NAME", was gemeint ist.</translation>
        </message>
        <message>
            <source>{name}: the tokenizer changes text before reading it, which is not supported.</source>
            <translation>{name}: Der Tokenizer ändert Text, bevor er ihn liest, und das wird nicht unterstützt.</translation>
        </message>
        <message>
            <source>{name}: the tokenizer cuts text in a way that is not known here.</source>
            <translation>{name}: Der Tokenizer zerlegt Text auf eine Art, die hier nicht bekannt ist.</translation>
        </message>
        <message>
            <source>{name}: the tokenizer has {vocab_size} tokens, the model {vocab}</source>
            <translation>{name}: Der Tokenizer hat {vocab_size} Tokens, das Modell {vocab}</translation>
        </message>
        <message>
            <source>{name}: the tokenizer is not of type BPE, the only one that works.</source>
            <translation>{name}: Der Tokenizer ist nicht vom Typ BPE, dem einzigen, der geht.</translation>
        </message>
        <message>
            <source>{name}: the tokenizer is of type {kind}; only byte-level BPE (gpt2) works.</source>
            <translation>{name}: Der Tokenizer ist vom Typ {kind}; nur byteweises BPE (gpt2) geht.</translation>
        </message>
        <message>
            <source>{name}: the vocabulary is not an object of tokens and ids.</source>
            <translation>{name}: Das Vokabular ist kein Objekt aus Tokens und Nummern.</translation>
        </message>
        <message>
            <source>{name}: the {name2} ran out of memory while the model was loaded; close other programs or choose a smaller model</source>
            <translation>{name}: Auf der {name2} ging beim Laden des Modells der Speicher aus; schließen Sie andere Programme, oder wählen Sie ein kleineres Modell</translation>
        </message>
        <message>
            <source>{name}: token {token} has id {number}, which is taken or not an id.</source>
            <translation>{name}: Token {token} hat die Nummer {number}, die vergeben oder keine Nummer ist.</translation>
        </message>
        <message>
            <source>{name}: tokenizer.ggml.token_type has {types:n} of {tokens:n} entries.</source>
            <translation>{name}: tokenizer.ggml.token_type hat {types:n} von {tokens:n} Einträgen.</translation>
        </message>
        <message>
            <source>{name}: used through CUDA if torch is built for it</source>
            <translation>{name}: wird über CUDA benutzt, wenn torch dafür gebaut ist</translation>
        </message>
        <message>
            <source>{name}: {field} is not a list.</source>
            <translation>{name}: {field} ist keine Liste.</translation>
        </message>
        <message>
            <source>{name}: {field} is {config}, where {wanted} is the only one built.</source>
            <translation>{name}: {field} ist {config}, aber nur {wanted} ist eingebaut.</translation>
        </message>
        <message>
            <source>{name}: {field} must be {wanted:w}, but is {shown}.</source>
            <translation>{name}: {field} muss {wanted:w} sein, ist aber {shown}.</translation>
        </message>
        <message>
            <source>{name}: {key} is {special:n}, but there are {tokens:n} tokens.</source>
            <translation>{name}: {key} ist {special:n}, aber es gibt {tokens:n} Tokens.</translation>
        </message>
        <message>
            <source>{native_note:w}; decodes layer by layer: {misfit:w}</source>
            <translation>{native_note:w}; rechnet Decode Schicht für Schicht: {misfit:w}</translation>
        </message>
        <message>
            <source>{native_note:w}; not on the GPU: {obstacle:w}</source>
            <translation>{native_note:w}; nicht auf der GPU: {obstacle:w}</translation>
        </message>
        <message>
            <source>{needed:n} for the embedded model and the window</source>
            <translation>{needed:n} für das eingebaute Modell und das Fenster</translation>
        </message>
        <message>
            <source>{needed:n} to load DS4: the file, and 8 GiB for the desktop</source>
            <translation>{needed:n}, um DS4 zu laden: die Datei, und 8 GiB für den Desktop</translation>
        </message>
        <message>
            <source>{override}: ROCm takes the GPU for gfx{parts}{parts2}{parts3}</source>
            <translation>{override}: ROCm hält die GPU für gfx{parts}{parts2}{parts3}</translation>
        </message>
        <message>
            <source>{pages} pages swapped in</source>
            <translation>{pages} Seiten eingelagert</translation>
        </message>
        <message>
            <source>{path} cannot be opened: {reason}.</source>
            <translation>{path} kann nicht geöffnet werden: {reason}.</translation>
        </message>
        <message>
            <source>{path} cannot be read: {strerror:w}.</source>
            <translation>{path} kann nicht gelesen werden: {strerror:w}.</translation>
        </message>
        <message>
            <source>{path} does not exist; choose a {kind:w}.</source>
            <translation>{path} gibt es nicht; wählen Sie {kind:w}.</translation>
        </message>
        <message>
            <source>{path} has GGUF version {version:n} at byte {start}; only versions 2 and 3 can be read.</source>
            <translation>{path} hat die GGUF-Version {version:n} bei Byte {start}; nur die Versionen 2 und 3 können gelesen werden.</translation>
        </message>
        <message>
            <source>{path} has more than {limit:n} bytes, too many for what it should hold.</source>
            <translation>{path} hat mehr als {limit:n} Bytes, zu viel für das, was darin stehen sollte.</translation>
        </message>
        <message>
            <source>{path} has no weight_map of tensors and files.</source>
            <translation>{path} hat keine weight_map von Tensoren und Dateien.</translation>
        </message>
        <message>
            <source>{path} holds tensor {name}, which {index} does not place there.</source>
            <translation>{path} enthält Tensor {name}, der laut {index} nicht dort liegt.</translation>
        </message>
        <message>
            <source>{path} is a big-endian GGUF file (version at byte {start}); only little-endian works.</source>
            <translation>{path} ist eine GGUF-Datei in Big-Endian (Version bei Byte {start}); nur Little-Endian geht.</translation>
        </message>
        <message>
            <source>{path} is a folder, not a {kind:w}.</source>
            <translation>{path} ist ein Ordner und nicht {kind:w}.</translation>
        </message>
        <message>
            <source>{path} is damaged: general.alignment is {alignment:n}, but must be a power of two up to {max_alignment:n}.</source>
            <translation>{path} ist beschädigt: general.alignment ist {alignment:n}, muss aber eine Zweierpotenz bis {max_alignment:n} sein.</translation>
        </message>
        <message>
            <source>{path} is damaged: tensor {name} {problem:w}.</source>
            <translation>{path} ist beschädigt: Tensor {name} {problem:w}.</translation>
        </message>
        <message>
            <source>{path} is damaged: {file_bytes:n} bytes at its end are no tensor's.</source>
            <translation>{path} ist beschädigt: {file_bytes:n} Bytes am Ende gehören zu keinem Tensor.</translation>
        </message>
        <message>
            <source>{path} is empty, not a {kind:w}.</source>
            <translation>{path} ist leer und nicht {kind:w}.</translation>
        </message>
        <message>
            <source>{path} is named part {number} of {count}, but says of itself that it is part {found:n} of {found2:n}.</source>
            <translation>{path} heißt Teil {number} von {count}, sagt aber von sich, Teil {found:n} von {found2:n} zu sein.</translation>
        </message>
        <message>
            <source>{path} is not a GGUF model file: it does not begin with "GGUF" at byte 0.</source>
            <translation>{path} ist keine GGUF-Modelldatei: Sie beginnt nicht mit „GGUF“ bei Byte 0.</translation>
        </message>
        <message>
            <source>{path} is not a whole safetensors file: it has {file_bytes:n} bytes, but gives its header {length:n}.</source>
            <translation>{path} ist keine ganze safetensors-Datei: Sie hat {file_bytes:n} Bytes, gibt ihrem Kopf aber {length:n}.</translation>
        </message>
        <message>
            <source>{path} is not an ordinary file, so it cannot be opened as a model.</source>
            <translation>{path} ist keine gewöhnliche Datei und kann daher nicht als Modell geöffnet werden.</translation>
        </message>
        <message>
            <source>{path} is one of {count:n} parts of a model, but is not named like one; parts are named NAME-00001-of-{count2}.gguf and so on.</source>
            <translation>{path} ist einer von {count:n} Teilen eines Modells, heißt aber nicht so; Teile heißen NAME-00001-of-{count2}.gguf und so weiter.</translation>
        </message>
        <message>
            <source>{path} names {file}, which is missing from the folder.</source>
            <translation>{path} nennt {file}, das im Ordner fehlt.</translation>
        </message>
        <message>
            <source>{path} names {file}, which is no safetensors file of this folder.</source>
            <translation>{path} nennt {file}, das keine safetensors-Datei dieses Ordners ist.</translation>
        </message>
        <message>
            <source>{path} names {names:n} files, more than the limit of {most_files:n}.</source>
            <translation>{path} nennt {names:n} Dateien, mehr als die Grenze von {most_files:n}.</translation>
        </message>
        <message>
            <source>{path} was written by a newer Haloband; what this one does not know is kept and not used.</source>
            <translation>{path} wurde von einem neueren Haloband geschrieben; was dieses nicht kennt, wird behalten und nicht benutzt.</translation>
        </message>
        <message>
            <source>{path}'s header</source>
            <translation>der Kopf von {path}</translation>
        </message>
        <message>
            <source>{path}: presets</source>
            <translation>{path}: presets</translation>
        </message>
        <message>
            <source>{path}: presets should be a list of tables; none are used.</source>
            <translation>{path}: presets sollte eine Liste von Tabellen sein; keine werden benutzt.</translation>
        </message>
        <message>
            <source>{path}: tensor {name} {problem:w}.</source>
            <translation>{path}: Tensor {name} {problem:w}.</translation>
        </message>
        <message>
            <source>{path}: the parts hold {held:n} tensors, but should hold {promised:n}.</source>
            <translation>{path}: Die Teile enthalten {held:n} Tensoren, sollten aber {promised:n} enthalten.</translation>
        </message>
        <message>
            <source>{path}: version should be a whole number from 1; it is read as {settings_version}.</source>
            <translation>{path}: version sollte eine ganze Zahl ab 1 sein; sie wird als {settings_version} gelesen.</translation>
        </message>
        <message>
            <source>{path}: {name} should be a table; its defaults are used.</source>
            <translation>{path}: {name} sollte eine Tabelle sein; es gelten ihre Vorgaben.</translation>
        </message>
        <message>
            <source>{problem:w} Chats of this session are not kept: copy what matters.</source>
            <translation>{problem:w} Chats dieser Sitzung werden nicht aufgehoben: Kopieren Sie, was wichtig ist.</translation>
        </message>
        <message>
            <source>{problem:w} Earlier chats are shown, but changes are not kept: copy what matters.</source>
            <translation>{problem:w} Frühere Chats sind zu sehen, aber Änderungen werden nicht aufgehoben: Kopieren Sie, was wichtig ist.</translation>
        </message>
        <message>
            <source>{profile}, processor governor {governor}</source>
            <translation>{profile}, Prozessorregler {governor}</translation>
        </message>
        <message>
            <source>{source} belongs to another model</source>
            <translation>{source} gehört zu einem anderen Modell</translation>
        </message>
        <message>
            <source>{source} does not have this model's shapes</source>
            <translation>{source} hat nicht die Formen dieses Modells</translation>
        </message>
        <message>
            <source>{source} has a header that cannot be read</source>
            <translation>{source} hat einen Kopf, der nicht gelesen werden kann</translation>
        </message>
        <message>
            <source>{source} has format version {version}, this program reads {version2}</source>
            <translation>{source} hat die Formatversion {version}, dieses Programm liest {version2}</translation>
        </message>
        <message>
            <source>{source} has no {lacks}, which is needed to read and write text.</source>
            <translation>{source} hat kein {lacks}, das zum Lesen und Schreiben von Text gebraucht wird.</translation>
        </message>
        <message>
            <source>{source} has {body_bytes} bytes of rows where its header promises another number</source>
            <translation>{source} hat {body_bytes} Bytes an Zeilen, wo der Kopf eine andere Zahl verspricht</translation>
        </message>
        <message>
            <source>{source} holds token ids outside the vocabulary of {vocab}</source>
            <translation>{source} enthält Token-Nummern außerhalb des Vokabulars von {vocab}</translation>
        </message>
        <message>
            <source>{source} holds {position} tokens, this session's context {context}</source>
            <translation>{source} enthält {position} Tokens, der Kontext dieser Sitzung fasst {context}</translation>
        </message>
        <message>
            <source>{source} is cut short: its header does not fit the file</source>
            <translation>{source} ist abgeschnitten: Der Kopf passt nicht zur Datei</translation>
        </message>
        <message>
            <source>{source} is damaged: its checksum does not match</source>
            <translation>{source} ist beschädigt: Die Prüfsumme stimmt nicht</translation>
        </message>
        <message>
            <source>{source} is damaged: {error:w}.</source>
            <translation>{source} ist beschädigt: {error:w}.</translation>
        </message>
        <message>
            <source>{source} is not JSON: {error:w}.</source>
            <translation>{source} ist kein JSON: {error:w}.</translation>
        </message>
        <message>
            <source>{source} is not a benchmark of schema version {schema_version} (it says {version}).</source>
            <translation>{source} ist kein Benchmark der Schema-Version {schema_version} (es nennt {version}).</translation>
        </message>
        <message>
            <source>{source} is not a saved Haloband session</source>
            <translation>{source} ist keine gespeicherte Sitzung von Haloband</translation>
        </message>
        <message>
            <source>{source} stores rows as {rounding}, this session as {rounding2}</source>
            <translation>{source} speichert Zeilen als {rounding}, diese Sitzung als {rounding2}</translation>
        </message>
        <message>
            <source>{source} was made in {mode} mode, this session is in {mode2} mode</source>
            <translation>{source} entstand im Modus {mode}, diese Sitzung ist im Modus {mode2}</translation>
        </message>
        <message>
            <source>{source}: tensor {called} differs in form from expert 0's.</source>
            <translation>{source}: Tensor {called} hat eine andere Form als der von Experte 0.</translation>
        </message>
        <message>
            <source>{source}: tensor {called} is missing.</source>
            <translation>{source}: Tensor {called} fehlt.</translation>
        </message>
        <message>
            <source>{source}: {called:w} has {pieces:n} experts, but {config} says {experts:n}.</source>
            <translation>{source}: {called:w} hat {pieces:n} Experten, aber {config} nennt {experts:n}.</translation>
        </message>
        <message>
            <source>{steps:n} in one step, cold</source>
            <translation>{steps:n} in einem Schritt, kalt</translation>
        </message>
        <message>
            <source>{steps:n} in one step, warm</source>
            <translation>{steps:n} in einem Schritt, warm</translation>
        </message>
        <message>
            <source>{steps:n}, cold</source>
            <translation>{steps:n}, kalt</translation>
        </message>
        <message>
            <source>{steps:n}, warm</source>
            <translation>{steps:n}, warm</translation>
        </message>
        <message>
            <source>{text} on Python {python}</source>
            <translation>{text} mit Python {python}</translation>
        </message>
        <message>
            <source>{torch}, built for CUDA {torch_cuda}</source>
            <translation>{torch}, gebaut für CUDA {torch_cuda}</translation>
        </message>
        <message>
            <source>{torch}, built for the processor only</source>
            <translation>{torch}, gebaut nur für den Prozessor</translation>
        </message>
        <message>
            <source>{torch}, built with ROCm {torch_hip}</source>
            <translation>{torch}, gebaut mit ROCm {torch_hip}</translation>
        </message>
        <message>
            <source>{torch}, for the processor only, as in every package of Haloband</source>
            <translation>{torch}, nur für den Prozessor, wie in jedem Paket von Haloband</translation>
        </message>
        <message>
            <source>{twice} comes twice</source>
            <translation>{twice} kommt zweimal vor</translation>
        </message>
        <message>
            <source>{unfit} is no multiple of {kernel_piece}</source>
            <translation>{unfit} ist kein Vielfaches von {kernel_piece}</translation>
        </message>
        <message>
            <source>{used:n} of {total:n}</source>
            <translation>{used:n} von {total:n}</translation>
        </message>
        <message>
            <source>{variant}, 1 thread</source>
            <translation>{variant}, 1 Thread</translation>
        </message>
        <message>
            <source>{variant}, {threads} threads</source>
            <translation>{variant}, {threads} Threads</translation>
        </message>
        <message>
            <source>{version}, installed beside the kernel (DKMS)</source>
            <translation>{version}, neben dem Kernel installiert (DKMS)</translation>
        </message>
        <message>
            <source>{wanted:n}: ttm.pages_limit={wanted2}</source>
            <translation>{wanted:n}: ttm.pages_limit={wanted2}</translation>
        </message>
        <message>
            <source>{what} {value} is not one of {allowed}</source>
            <translation>{what} {value} ist keines von {allowed}</translation>
        </message>
        <message>
            <source>{where:w}.{name} {error:w}; its default is used.</source>
            <translation>{where:w}.{name} {error:w}; es gilt die Vorgabe.</translation>
        </message>
        <message>
            <source>{zig}, LLVM {llvm}</source>
            <translation>{zig}, LLVM {llvm}</translation>
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
            <source>How words are chosen. What is ticked holds for every model; the rest is what the model's makers advise.</source>
            <translation>Wie Wörter gewählt werden. Was angehakt ist, gilt für jedes Modell; das Übrige raten die Hersteller des Modells.</translation>
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
