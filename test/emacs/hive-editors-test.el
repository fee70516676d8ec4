;;; hive-editors-test.el --- The calls of agents of other packages  -*- lexical-binding: t; -*-

;; Tags: as-displayed untrusted

(require 'ert)
(require 'hive-agent-shell)
(require 'hive-eca)
(require 'hive-editors)

(ert-deftest hive-editors-no-argument-is-displayed-in-the-place-of-another ()
  (dolist (json '("{\"command\":\"rm -rf ~\",\":command\":\"ls\"}"
                  "{\":command\":\"ls\",\"command\":\"rm -rf ~\"}"))
    (dolist (type '(plist alist hash-table))
      (let ((sent (hive-editor-json (json-parse-string json :object-type type))))
        (should (= 2 (hash-table-count sent)))
        (should (equal "rm -rf ~" (gethash "command" sent)))
        (should (equal "ls" (gethash ":command" sent)))))
    (let* ((call `((:title . "List") (:raw-input . ,(json-parse-string json :object-type 'alist))
                   (:locations . [((path . "/a"))])))
           (params (hive-agent-shell--params call nil)))
      (should (equal "rm -rf ~" (gethash "command" (plist-get params :input))))
      (should (equal "/a" (gethash "path" (aref (gethash "locations" (plist-get params :rest)) 0)))))))

(ert-deftest hive-editors-content-of-a-call-that-is-no-text-is-displayed-too ()
  (cl-flet ((content (json &rest more)
              (let ((call `((:title . "Draw") ,@more
                            (:content . ,(json-parse-string json :object-type 'alist)))))
                (gethash "content" (plist-get (hive-agent-shell--params call nil) :rest)))))
    (let ((shown (content "[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"said\"}},
                            {\"type\":\"terminal\",\"terminalId\":\"1\"},
                            {\"type\":\"content\",\"content\":{\"type\":\"resource_link\",\"uri\":\"a secret\"}}]")))
      (should (= 1 (length shown)))
      (should (equal "a secret" (gethash "uri" (gethash "content" (aref shown 0))))))
    (let ((diff "[{\"type\":\"diff\",\"path\":\"/a\",\"newText\":\"a secret\"}]"))
      (should (equal "a secret" (gethash "newText" (aref (content diff) 0))))
      (should-not (content diff '(:diff . ((:old . "") (:new . "a secret") (:file . "/a"))))))
    (should (equal ["a secret"] (content "\"a secret\"")))
    (should-not (content "[]"))))

(ert-deftest hive-editors-an-input-that-is-no-object-is-displayed-too ()
  (dolist (raw '("rm -rf /" ["rm" "-rf"] 7))
    (let ((input (plist-get (hive-agent-shell--params `((:raw-input . ,raw)) nil) :input)))
      (should (equal raw (gethash "input" input)))))
  (let ((input (plist-get (hive-eca--params '(:name "sh" :arguments "{\"command")) :input)))
    (should (equal "{\"command" (gethash "input" input))))
  (should (hash-table-empty-p (plist-get (hive-agent-shell--params nil nil) :input)))
  (should (equal "ls" (gethash "command" (plist-get (hive-agent-shell--params '((:command . "ls")) nil)
                                                    :input)))))
