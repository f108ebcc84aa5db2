<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
    <context>
        <name>ChatPage</name>
        <message numerus="yes">
            <source>The first %Ln message(s) of this chat are no longer sent to the model.</source>
            <translation>
                <numerusform>The first %Ln message of this chat are no longer sent to the model.</numerusform>
                <numerusform>The first %Ln messages of this chat are no longer sent to the model.</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>ChatService</name>
        <message numerus="yes">
            <source>%n answer(s) were interrupted when the program ended; their text was kept.</source>
            <translation>
                <numerusform>%n answer were interrupted when the program ended; their text was kept.</numerusform>
                <numerusform>%n answers were interrupted when the program ended; their text was kept.</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>Composer</name>
        <message numerus="yes">
            <source>Leave out the oldest %Ln turn(s)</source>
            <translation>
                <numerusform>Leave out the oldest %Ln turn</numerusform>
                <numerusform>Leave out the oldest %Ln turns</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>DoctorPage</name>
        <message numerus="yes">
            <source>%Ln problem(s)</source>
            <translation>
                <numerusform>%Ln problem</numerusform>
                <numerusform>%Ln problems</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln warning(s)</source>
            <translation>
                <numerusform>%Ln warning</numerusform>
                <numerusform>%Ln warnings</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>Find</name>
        <message numerus="yes">
            <source>in %Ln message(s)</source>
            <translation>
                <numerusform>in %Ln message</numerusform>
                <numerusform>in %Ln messages</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>Formats</name>
        <message numerus="yes">
            <source>%Ln token(s)</source>
            <translation>
                <numerusform>%Ln token</numerusform>
                <numerusform>%Ln tokens</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>LivePanel</name>
        <message numerus="yes">
            <source>%Ln band(s)</source>
            <translation>
                <numerusform>%Ln band</numerusform>
                <numerusform>%Ln bands</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln step(s)</source>
            <translation>
                <numerusform>%Ln step</numerusform>
                <numerusform>%Ln steps</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>MainWindow</name>
        <message numerus="yes">
            <source>%Ln chat(s) imported.</source>
            <translation>
                <numerusform>%Ln chat imported.</numerusform>
                <numerusform>%Ln chats imported.</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>Messages</name>
        <message numerus="yes">
            <source>Waiting for %Ln other job(s)</source>
            <translation>
                <numerusform>Waiting for %Ln other job</numerusform>
                <numerusform>Waiting for %Ln other jobs</numerusform>
            </translation>
        </message>
    </context>
</TS>
